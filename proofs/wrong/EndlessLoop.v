(** The outer loop has no end: its test always holds. *)
From Loopwright Require Import Tactics.
From Loopwright.examples Require Import Interchange.

Definition wrong : node :=
  For "j" (Int 0) (And []) 1
    (For "i" (Var "j") (Compare LT (Var "i") (Var "n")) 1
      (Call "S" [Var "i"; Var "j"] [])).

Theorem wrong_correct : implements target wrong.
Proof.
  prove_implements.
  - prove_regular. (* refused here *)
  - prove_covers. intros n Hn i j Hij. run_by [Iterate j; Iterate i].
  - prove_sound.
  - prove_order.
Qed.
