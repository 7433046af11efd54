(** * What a file about one program imports

    Such a file defines, as data, a program or two, what they are to run and
    what their statements touch, and certificates.  Its theorem is what a [true]
    of the verified checker means; the proof computes that [true].

    - [check_text_implements] (Text.v): the loops run their schedule;
    - [text_same_memory], [text_same_privately], [text_same_but] (Text.v): two
      programs leave the same memory, in all cells or except in temporaries;
    - [text_same_values] (Text.v), [divided_same_values] (Divided.v),
      [buffered_same_values] (Buffers.v): so they do with other storage. *)

From Coq Require Export ZArith List String.
From Loopwright Require Export Loop Poly Memory Transformation Parallel Private.
From Loopwright Require Export Specification Walk Coverage Checker Changes Temporaries Reused Stored Counting Accounting Text Divided Buffers Ranges.
From Loopwright Require Export Linear.
Export ListNotations.
Open Scope string_scope.
Open Scope list_scope.
Open Scope Z_scope.
