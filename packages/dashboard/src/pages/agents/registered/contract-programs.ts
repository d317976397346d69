/** An agent as programs name it. */
export interface Known {
  readonly id: string;
  readonly endpoint: string;
}

export const portOf = (endpoint: string): string => URL.parse(endpoint)?.port || '8080';

/** A text of JSON is one of Python too. */
export const pythonSample = ({ id, endpoint }: Known): string => `# IDENTITY_TOKEN=0x… python3 agent.py
import base64, hashlib, hmac, json, os, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOKEN = os.environ["IDENTITY_TOKEN"]
AGENT, ENDPOINT, PORT = ${JSON.stringify(id)}, ${JSON.stringify(endpoint)}, ${portOf(endpoint)}
answers, lock = {}, threading.Lock()


def handle(call):
    return {"text": call["task"].upper()}


def is_signed(headers, body):
    stamp = headers.get("webhook-timestamp", "")
    if not stamp.isdecimal() or abs(time.time() - int(stamp)) > 300:
        return False
    signed = f"{headers.get('webhook-id', '')}.{stamp}.".encode() + body
    digest = hmac.new(bytes.fromhex(TOKEN[2:]), signed, hashlib.sha256).digest()
    expected = "v1," + base64.b64encode(digest).decode()
    return any(hmac.compare_digest(expected, each) for each in headers.get("webhook-signature", "").split(" "))


def answer_challenge(call):
    text = "\\n".join([call["challenge"], AGENT, ENDPOINT]).encode()
    return {"agent_id": AGENT, "response": hmac.new(TOKEN.encode(), text, hashlib.sha256).hexdigest()}


def answer_once(call):
    # A repeated call has the same request_id, and gets the same answer.
    with lock:
        if call["request_id"] not in answers:
            answers[call["request_id"]] = {"result": handle(call)}
        while len(answers) > 1000:
            del answers[next(iter(answers))]
        return answers[call["request_id"]]


class Endpoint(BaseHTTPRequestHandler):
    timeout = 30  # for what a connection sends or takes

    def do_POST(self):
        body = self.rfile.read(max(0, min(int(self.headers.get("Content-Length", 0)), 2**21)))
        if not is_signed(self.headers, body):
            return self.send(401, {"error": {"code": "unauthorized", "message": "not signed by the node"}})
        call = json.loads(body)
        self.send(200, answer_challenge(call) if call.get("type") == "verification" else answer_once(call))

    def send(self, status, answer):
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


ThreadingHTTPServer(("", PORT), Endpoint).serve_forever()`;

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Calls the endpoint as the node does. */
export const curlSample = ({ id, endpoint }: Known): string => {
  const call = {
    ...{ request_id: 'req_test', agent_id: id, task: 'say hello', input: {}, context: null, metadata: {} },
    ...{ priority: 'normal', deadline: '2099-01-01T00:00:00.000Z', max_spend: '0.01', stream: false },
  };
  return [
    '# Calls your endpoint as the node does, signed with the identity token.',
    `ID=req_test; STAMP=$(date +%s)`,
    `BODY=${quoted(JSON.stringify(call))}`,
    `SIGNATURE=$(printf '%s.%s.%s' "$ID" "$STAMP" "$BODY" |`,
    `  openssl dgst -sha256 -mac HMAC -macopt "hexkey:\${IDENTITY_TOKEN#0x}" -binary | base64)`,
    `curl ${quoted(endpoint)} -H 'Content-Type: application/json' \\`,
    `  -H "webhook-id: $ID" -H "webhook-timestamp: $STAMP" \\`,
    `  -H "webhook-signature: v1,$SIGNATURE" -d "$BODY"`,
  ].join('\n');
};
