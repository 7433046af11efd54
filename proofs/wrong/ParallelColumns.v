(** The columns of [Interchange.v] in parallel: two iterations of [j] add to
    the same [x[i]]. *)
From Loopwright Require Import Tactics.
From Loopwright.examples Require Import Interchange.

Definition columns : node := <{
  mark "parallel" on
    for "j" = 0; "j" < "n"; += 1 do
      for "i" = "j"; "i" < "n"; += 1 do
        call "S" ("i", "j")
}>.

Lemma columns_independent : forall p, known p ->
  independent (conflicting (memory_use p)) (environment source p) columns.
Proof.
  prove_independent. (* refused here *)
Qed.
