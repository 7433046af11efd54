(** The loops were not interchanged although the schedule says so. *)
From Loopwright Require Import Tactics.
From Loopwright.examples Require Import Interchange.

Theorem wrong_correct : implements target original.
Proof.
  prove_implements.
  - prove_regular.
  - prove_covers. intros n Hn i j Hij. run_by [Iterate i; Iterate j].
  - prove_sound.
  - prove_order. (* refused here *)
Qed.
