(** The checker as an OCaml program.  Only types that OCaml has as well are
    replaced by its own: booleans, pairs, lists, options.  Integers and strings
    stay what they are in Coq, so that no library has to be trusted. *)

From Loopwright Require Import Loop Checker Changes Temporaries Reused Stored Counting Accounting Text Divided Buffers Ranges.
From Coq Require Import Extraction ExtrOcamlBasic.

Extraction Language OCaml.
Extraction "checker.ml" check_text check_text_change check_text_private check_text_reused check_text_stored check_divided check_buffered check_range readable both_readable with_subscripts decide accounted as_told as_written everywhere
  goals change_goals private_goals reused_goals stored_goals buffer_goals owning_all all_range_goals.
