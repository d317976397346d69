-- What a quoted call was multiplied with: a quote is no price for a larger one. Null: quoted before this was noted.
alter table quote add column multiplier_hundredths integer;
