(** The inner loop uses the name [m], which nothing binds. *)
From Loopwright Require Import Tactics.
From Loopwright.examples Require Import Interchange.

Definition wrong : node :=
  For "j" (Int 0) (Compare LT (Var "j") (Var "n")) 1
    (For "i" (Var "j") (Compare LT (Var "i") (Var "m")) 1
      (Call "S" [Var "i"; Var "j"] [])).

Theorem wrong_correct : implements target wrong.
Proof.
  prove_implements. (* refused here *)
  - prove_regular.
  - prove_covers. intros n Hn i j Hij. run_by [Iterate j; Iterate i].
  - prove_sound.
  - prove_order.
Qed.
