-- All parts of a text that are three characters long: a text that holds another holds all of its parts, which an index finds.
CREATE FUNCTION public.text_parts(p_text text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT coalesce(array_agg(substr(p_text, n, 3)), '{}') FROM generate_series(1, length(p_text) - 2) n
$$;
--> statement-breakpoint
SET LOCAL maintenance_work_mem = '256MB';
