(** * The lexicographic order of integer vectors *)

From Coq Require Import ZArith List Lia.
Import ListNotations.
Open Scope Z_scope.

(** [lex_lt a b]: at the first place where they differ, [a] is smaller; a
    proper prefix comes before its extensions.  On vectors of known length it
    unfolds to a formula of linear arithmetic. *)
Fixpoint lex_lt (a b : list Z) : Prop :=
  match a, b with
  | _, [] => False
  | [], _ :: _ => True
  | x :: a', y :: b' => x < y \/ (x = y /\ lex_lt a' b')
  end.

Lemma lex_lt_irreflexive : forall a, ~ lex_lt a a.
Proof. induction a; simpl; [auto | intros [H | [_ H]]; [lia | auto]]. Qed.

Lemma lex_lt_transitive : forall a b c, lex_lt a b -> lex_lt b c -> lex_lt a c.
Proof.
  induction a as [|x a IH]; intros [|y b] [|z c]; simpl; try tauto.
  intros [H1 | [-> H1]] [H2 | [-> H2]]; [left; lia | left; lia | left; lia |].
  right. eauto.
Qed.

Lemma lex_lt_asymmetric : forall a b, lex_lt a b -> ~ lex_lt b a.
Proof.
  intros a b H1 H2. exact (lex_lt_irreflexive a (lex_lt_transitive _ _ _ H1 H2)).
Qed.

(** Two vectors are equal or one comes before the other. *)
Lemma lex_lt_total : forall a b, lex_lt a b \/ a = b \/ lex_lt b a.
Proof.
  induction a as [|x a IH]; intros [|y b]; simpl; auto.
  destruct (Z.lt_trichotomy x y) as [H | [-> | H]]; auto.
  destruct (IH b) as [H | [-> | H]]; auto.
Qed.

Lemma not_before_trans : forall a b c, ~ lex_lt b a -> ~ lex_lt c b -> ~ lex_lt c a.
Proof.
  intros a b c Hab Hbc Hca. destruct (lex_lt_total a b) as [H | [-> | H]]; auto.
  exact (Hbc (lex_lt_transitive _ _ _ Hca H)).
Qed.

(** The first places of [t] are [key]. *)
Fixpoint starts_with (key t : list Z) : Prop :=
  match key, t with
  | [], _ => True
  | a :: key', b :: t' => a = b /\ starts_with key' t'
  | _ :: _, [] => False
  end.
