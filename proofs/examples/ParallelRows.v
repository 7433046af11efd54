(** * The rows of [Interchange.v] in parallel

    [x[i] = x[i] + a[i][j] * y[j]]: no two iterations of [i] touch the same
    [x[i]], and so they may run in any order, their steps mixed in any way.
    The iterations of [j] may not: [wrong/ParallelColumns.v]. *)

From Loopwright Require Import Tactics.
From Loopwright.examples Require Import Interchange.

Definition rows : node := <{
  mark "parallel" on
    for "i" = 0; "i" < "n"; += 1 do
      for "j" = 0; "j" <= "i"; += 1 do
        call "S" ("i", "j")
}>.

Lemma rows_end : forall p, known p -> regular (environment source p) rows.
Proof. known_parameters. prove_regular. Qed.

Lemma rows_independent : forall p, known p ->
  independent (conflicting (memory_use p)) (environment source p) rows.
Proof. prove_independent. Qed.

(** One after the other, the rows are the original. *)
Lemma rows_in_sequence : forall p, known p ->
  compute_the_same (memory_use p) (environment source p) original rows.
Proof.
  intros p Hp. destruct (runs_its_schedule _ _ original_correct p Hp) as (t & Ht & _).
  exists t, t. split; [exact Ht | split; [apply run_mark, Ht|]]. intros value combine effect _ m c. reflexivity.
Qed.

Theorem rows_in_any_order : forall p, known p ->
  compute_the_same_in_any_order (memory_use p) (environment source p) original rows.
Proof.
  intros p Hp. apply same_in_any_order.
  - exact (rows_in_sequence p Hp).
  - exact (rows_end p Hp).
  - exact (rows_independent p Hp).
Qed.

Print Assumptions rows_in_any_order.
