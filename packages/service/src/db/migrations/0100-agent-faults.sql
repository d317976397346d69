-- What the last check found, for the owner: kind of the fault, status and first characters of the answer. null: nothing, or found before this.
alter table agent add column fault_detail json;
