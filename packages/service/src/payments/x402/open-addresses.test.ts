import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { openAddressReason } from './open-addresses.ts';

const low = (digits: string) => `0x${digits.padStart(40, '0')}`;

describe('an address from which anyone, or no one, can take money', () => {
  it.each([
    ['Multicall3', '0xca11bde05977b3631167028862be2a173976ca11', /any call for anyone/],
    ['MultiSendCallOnly', '0x9641d764fc13c8b624c04430c7356c1c7c8102e2', /any call for anyone/],
    ['a Universal Router', '0x6ff5693b99212da76ad316178a184ab56d299b43', /any caller/],
    ['x402BatchSettlement', '0x4020074e9df2ce1dee5a9c1b5c3f541d02a10003', /x402/],
    ['ERC3009DepositCollector', '0x4020806089470a89826cb9fb1f4059150b550004', /x402/],
    ['Permit2DepositCollector', '0x4020425faf3b746c082c2f942b4e5159887b0005', /x402/],
    ['the proxy of exact', '0x402085c248eea27d92e8b30b2c58ed07f9e20001', /x402/],
    ['the proxy of upto', '0x4020a4f3b7b90cca423b9fabcc0ce57c6c240002', /x402/],
    ['Permit2', '0x000000000022d473030f116ddee9f6b43ac78ba3', /x402/],
    ['USDC on Base', '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', /USDC/],
    ['USDC on Base Sepolia', '0x036cbd53842c5426634e7929541ec2318f3dcf7e', /USDC/],
    ['the identity registry', '0x8004a169fb4a3325136eb29fa0ceb6d2e539a432', /registry/],
    ['the reputation registry', '0x8004b663056a597dffe9eccc1965a193b7388713', /registry/],
    ['the zero address', low('0'), /zero address/],
    ['ecrecover', low('1'), /low address/],
    ['the last precompile', low('11'), /low address/],
    ['P-256', low('100'), /low address/],
    ['0xdead', low('dead'), /low address/],
    ['WETH', '0x4200000000000000000000000000000000000006', /system contract/],
    ['the implementation of a predeploy', '0xc0d3c0d3c0d3c0d3c0d3c0d3c0d3c0d3c0d30007', /system contract/],
    ['the depositor of the OP Stack', '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001', /system contract/],
  ])('is known: %s', (_name, address, reason) => {
    expect(openAddressReason(address)).toMatch(reason);
  });

  it('is no wallet that anybody made', () => {
    for (let i = 0; i < 20; i++)
      expect(openAddressReason(privateKeyToAddress(generatePrivateKey()).toLowerCase())).toBeNull();
  });
});
