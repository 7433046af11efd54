(** Tiles of 32 that overlap by one: [S(32, j)] is run by two of them. *)
From Loopwright Require Import Tactics.
From Loopwright.examples Require Import Interchange.

Definition wrong : node :=
  For "c0" (Int 0) (Compare LE (Var "c0") (FloorDiv (Sum [Var "n"; Int (-1)]) 32)) 1
    (For "i" (Scaled 32 (Var "c0"))
         (Compare LE (Var "i") (Min [Sum [Var "n"; Int (-1)]; Sum [Scaled 32 (Var "c0"); Int 32]])) 1
      (For "j" (Int 0) (Compare LE (Var "j") (Var "i")) 1
        (Call "S" [Var "i"; Var "j"] []))).

Theorem wrong_correct : implements source wrong.
Proof.
  prove_implements.
  - prove_regular.
  - prove_covers. intros n Hn i j Hij. run_by [Iterate (i / 32); Iterate i; Iterate j].
  - prove_sound.
  - prove_order_weak. (* refused here *)
Qed.
