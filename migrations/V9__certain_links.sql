-- What leads nowhere is found by a look at each target of links that must have one.
CREATE INDEX edges_certain ON edges (target) WHERE certain = 1;
