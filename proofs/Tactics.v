(** * Proving the obligations of one program

    A file about one program imports this file alone.  It defines the loops
    (a [node]), the statements (a [program]) and, for a transformation, the
    [accesses]; these tactics turn its obligations into formulas of linear
    arithmetic and close them with [lia].

    - [prove_implements]: four goals of [implements G n] for every parameter
      value; each is then closed by one of
    - [prove_regular]: the loops are regular,
    - [prove_covers]: one goal for each statement, in which [run_by] shows the
      way to the call that runs the instance, after [cases] where there are
      several,
    - [prove_sound]: what is executed is in the domain,
    - [prove_order] or [prove_order_weak], or the steps of [order_loop] and the
      like: it runs in the order of the schedule;
    - [prove_legal]: the three parts of a legal transformation;
    - [prove_independent]: the iterations of loops marked parallel do not
      conflict. *)

From Coq Require Export ZArith List String Lia.
From Loopwright Require Export Loop Notations Scope Lexicographic Poly Memory Transformation Formulas Reduction.
From Loopwright Require Export Ordering Walking Legality Outline Arithmetic Unfolding ProgramTactics LegalityTactics.
From Loopwright Require Export Parallel ParallelTactics.
Export ListNotations.
Open Scope string_scope.
Open Scope list_scope.
Open Scope Z_scope.
