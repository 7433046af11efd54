(** * Statements of two texts

    A statement of a new text is an instance of one of the original if their
    words are the same, where the iterators of the original stand for the
    arguments of the instance.  In subscripts that is an equation of affine
    expressions, which [affine_equal_sound] says to hold of their values. *)

From Coq Require Import ZArith List String Bool Lia.
From Loopwright Require Import Loop Counting Parser.
Import ListNotations.
Open Scope string_scope.
Open Scope list_scope.
Open Scope Z_scope.

(** ** Affine expressions

    What is divided is affine as well; a quotient or remainder is a name for
    itself, compared term by term. *)

(** A number, and names or quotients with their coefficients, each once. *)
Definition affine := (Z * list (expr * Z))%type.

Definition value (e : env) (f : affine) : Z := fst f + fold_right (fun one rest => snd one * eval e (fst one) + rest) 0 (snd f).

(** The same term, built of sums, products and quotients. *)
Fixpoint same_expr (a b : expr) : bool :=
  match a, b with
  | Int v, Int w => v =? w
  | Var x, Var y => String.eqb x y
  | Sum l, Sum m =>
      (fix each (l m : list expr) : bool :=
         match l, m with
         | [], [] => true
         | a :: l', b :: m' => same_expr a b && each l' m'
         | _, _ => false
         end) l m
  | Scaled k a, Scaled j b => (k =? j) && same_expr a b
  | FloorDiv a d, FloorDiv b c | TruncDiv a d, TruncDiv b c | Rem a d, Rem b c => Pos.eqb d c && same_expr a b
  | _, _ => false
  end.

Lemma same_expr_sound : forall e a b, same_expr a b = true -> eval e a = eval e b.
Proof.
  intros e. fix IH 1. intros [v | x | l | k a | a d | a d | a d | | |] [w | y | m | j b | b c | b c | b c | | |] H;
    cbn [same_expr eval] in *; try discriminate.
  - apply Z.eqb_eq, H.
  - apply String.eqb_eq in H as ->. reflexivity.
  - f_equal. revert m H. induction l as [|a l IHl]; intros [|b m] H; try discriminate; [reflexivity|].
    apply andb_prop in H as [H1 H2]. cbn [map]. f_equal; [exact (IH a b H1) | exact (IHl m H2)].
  - apply andb_prop in H as [H1 H2]. apply Z.eqb_eq in H1 as ->. rewrite (IH a b H2). reflexivity.
  - apply andb_prop in H as [H1 H2]. apply Pos.eqb_eq in H1 as ->. rewrite (IH a b H2). reflexivity.
  - apply andb_prop in H as [H1 H2]. apply Pos.eqb_eq in H1 as ->. rewrite (IH a b H2). reflexivity.
  - apply andb_prop in H as [H1 H2]. apply Pos.eqb_eq in H1 as ->. rewrite (IH a b H2). reflexivity.
Qed.

Fixpoint put (x : expr) (k : Z) (l : list (expr * Z)) : list (expr * Z) :=
  match l with
  | [] => [(x, k)]
  | (y, j) :: l' => if same_expr x y then (y, j + k) :: l' else (y, j) :: put x k l'
  end.

(** [f] and [k] times [g]. *)
Definition plus (f : affine) (k : Z) (g : affine) : affine :=
  (fst f + k * fst g, fold_right (fun one l => put (fst one) (k * snd one) l) (snd f) (snd g)).

(** The form as a term, without what adds nothing. *)
Definition term_of (f : affine) : expr :=
  Sum (Int (fst f) :: map (fun one => Scaled (snd one) (fst one)) (filter (fun one => negb (snd one =? 0)) (snd f))).

(** [var] says what names stand for. *)
Fixpoint affine_of (var : string -> option affine) (a : expr) : option affine :=
  match a with
  | Int v => Some (v, [])
  | Var x => var x
  | Scaled k b => match affine_of var b with Some f => Some (plus (0, []) k f) | None => None end
  | Sum l =>
      (fix total (l : list expr) : option affine :=
         match l with
         | [] => Some (0, [])
         | b :: l' =>
             match affine_of var b, total l' with
             | Some f, Some g => Some (plus f 1 g)
             | _, _ => None
             end
         end) l
  | FloorDiv b d => match affine_of var b with Some f => Some (0, [(FloorDiv (term_of f) d, 1)]) | None => None end
  | TruncDiv b d => match affine_of var b with Some f => Some (0, [(TruncDiv (term_of f) d, 1)]) | None => None end
  | Rem b d => match affine_of var b with Some f => Some (0, [(Rem (term_of f) d, 1)]) | None => None end
  | _ => None
  end.

Definition itself (x : string) : option affine := Some (0, [(Var x, 1)]).

(** What a name of the original stands for: an argument, or itself where nothing else has this name. *)
Definition instead (s : list (string * expr)) (iterators : list string) (x : string) : option affine :=
  match find (fun one => String.eqb x (fst one)) s with
  | Some (_, a) => affine_of itself a
  | None => if existsb (String.eqb x) iterators then None else itself x
  end.

Definition is_nothing (f : affine) : bool := (fst f =? 0) && forallb (fun one => snd one =? 0) (snd f).

Definition affine_equal (var : string -> option affine) (a b : expr) : bool :=
  match affine_of var a, affine_of itself b with
  | Some f, Some g => is_nothing (plus f (-1) g)
  | _, _ => false
  end.

Lemma value_put : forall e x k l v, value e (v, put x k l) = value e (v, l) + k * eval e x.
Proof.
  intros e x k l v. unfold value. cbn [fst snd]. induction l as [|[y j] l IH]; cbn [put fold_right fst snd]; [lia|].
  destruct (same_expr x y) eqn:E; cbn [fold_right fst snd]; [rewrite (same_expr_sound e x y E); lia | lia].
Qed.

Lemma value_plus : forall e f k g, value e (plus f k g) = value e f + k * value e g.
Proof.
  intros e [v l] k [w m]. unfold plus. cbn [fst snd]. induction m as [|[x j] m IH]; cbn [fold_right fst snd].
  - unfold value. cbn [fst snd fold_right]. lia.
  - rewrite value_put. assert (Hw : forall q, value e (w, (x, j) :: q) = value e (w, q) + j * eval e x) by (intros q; unfold value; cbn [fst snd fold_right]; lia).
    rewrite Hw. lia.
Qed.

Lemma sum_cons : forall a l, sum (a :: l) = a + sum l.
Proof.
  assert (Hfold : forall l a, fold_left Z.add l a = a + fold_left Z.add l 0).
  { induction l as [|b l IH]; intros a; cbn [fold_left]; [lia|]. rewrite (IH (a + b)), (IH (0 + b)). lia. }
  intros a [|b l]; unfold sum; cbn [fold_left]; [lia|]. rewrite (Hfold l (a + b)), (Hfold l b). lia.
Qed.

Lemma term_of_value : forall e f, eval e (term_of f) = value e f.
Proof.
  intros e [v l]. unfold term_of, value. cbn [eval fst snd map]. rewrite sum_cons. f_equal.
  induction l as [|[x k] l IH]; [reflexivity|]. cbn [filter fold_right fst snd]. destruct (Z.eqb_spec k 0) as [-> | _]; cbn [negb].
  - rewrite IH. lia.
  - cbn [map eval fst snd]. rewrite sum_cons, IH. reflexivity.
Qed.

Lemma affine_of_sound : forall var e e0, (forall x f, var x = Some f -> value e f = lookup x e0) ->
  forall a f, affine_of var a = Some f -> value e f = eval e0 a.
Proof.
  intros var e e0 Hvar. fix IH 1. intros [v | x | l | k b | b d | b d | b d | | |] f H; cbn [affine_of eval] in *; try discriminate.
  - injection H as <-. unfold value. cbn. lia.
  - exact (Hvar x f H).
  - revert f H. induction l as [|b l IHl]; intros f H; [injection H as <-; reflexivity|].
    destruct (affine_of var b) as [g|] eqn:Eb; [|discriminate].
    match type of H with context [match ?t with _ => _ end] => destruct t as [h|] eqn:El end; [|discriminate].
    injection H as <-. cbn [map]. rewrite value_plus, sum_cons, (IH b g Eb), (IHl h eq_refl). lia.
  - destruct (affine_of var b) as [g|] eqn:Eb; [|discriminate]. injection H as <-.
    rewrite value_plus, (IH b g Eb). unfold value. cbn [fst snd fold_right]. lia.
  - destruct (affine_of var b) as [g|] eqn:Eb; [|discriminate]. injection H as <-.
    rewrite <- (IH b g Eb), <- (term_of_value e g). unfold value at 1. cbn [fst snd fold_right eval]. lia.
  - destruct (affine_of var b) as [g|] eqn:Eb; [|discriminate]. injection H as <-.
    rewrite <- (IH b g Eb), <- (term_of_value e g). unfold value at 1. cbn [fst snd fold_right eval]. lia.
  - destruct (affine_of var b) as [g|] eqn:Eb; [|discriminate]. injection H as <-.
    rewrite <- (IH b g Eb), <- (term_of_value e g). unfold value at 1. cbn [fst snd fold_right eval]. lia.
Qed.

Lemma nothing_value : forall e f, is_nothing f = true -> value e f = 0.
Proof.
  intros e [v l] H. unfold is_nothing in H. apply andb_prop in H as [H1 H2]. apply Z.eqb_eq in H1. unfold value. rewrite H1.
  cbn [fst snd] in *. revert H2. induction l as [|[x k] l IH]; [reflexivity|]. cbn [forallb fold_right fst snd].
  intros H2. apply andb_prop in H2 as [Hk Hl]. apply Z.eqb_eq in Hk. rewrite Hk. specialize (IH Hl). lia.
Qed.

(** Where the names of the original have the values that they stand for, both are equal. *)
Theorem affine_equal_sound : forall var e e0 a b, (forall x f, var x = Some f -> value e f = lookup x e0) ->
  affine_equal var a b = true -> eval e0 a = eval e b.
Proof.
  intros var e e0 a b Hvar H. unfold affine_equal in H.
  destruct (affine_of var a) as [f|] eqn:Ea; [|discriminate]. destruct (affine_of itself b) as [g|] eqn:Eb; [|discriminate].
  assert (Hitself : forall x h, itself x = Some h -> value e h = lookup x e).
  { intros x h Hh. injection Hh as <-. unfold value. cbn [fst snd fold_right eval]. lia. }
  rewrite <- (affine_of_sound var e e0 Hvar a f Ea), <- (affine_of_sound itself e e Hitself b g Eb).
  apply (nothing_value e) in H. rewrite value_plus in H. lia.
Qed.

(** ** Words *)

Definition same_token (t u : token) : bool :=
  match t, u with
  | Word a, Word b | Sign a, Sign b | Unread a, Unread b => String.eqb a b
  | Number v a, Number w b => (v =? w) && String.eqb a b
  | _, _ => false
  end.

Section Words.
  (** What the iterators of the original stand for, and the iterators of the new text. *)
  Variable s : list (string * expr).
  Variable iterators : list string.

  Definition is_iterator (x : string) : bool := existsb (fun one => String.eqb x (fst one)) s || existsb (String.eqb x) iterators.

  Fixpoint same_words (fuel : nat) (old new : list token) : bool :=
    match fuel with
    | O => false
    | S fuel =>
        match old, new with
        | [], [] => true
        | Word x :: old', t :: new' =>
            if is_iterator x then
              match operand fuel new with
              | Some (b, rest) => affine_equal (instead s iterators) (Var x) (value_of b) && same_words fuel old' rest
              | None => false
              end
            else same_token (Word x) t && same_words fuel old' new'
        | Sign a :: old', Sign b :: new' =>
            let plain (_ : unit) := String.eqb a b && same_words fuel old' new' in
            if String.eqb a "[" && String.eqb b "[" then
              match expression fuel old', expression fuel new' with
              | Some (m, Sign c :: old''), Some (m', Sign d :: new'') =>
                  if String.eqb c "]" && String.eqb d "]"
                  then affine_equal (instead s iterators) (value_of m) (value_of m') && same_words fuel old'' new''
                  else plain tt
              | _, _ => plain tt
              end
            else plain tt
        | t :: old', u :: new' => same_token t u && same_words fuel old' new'
        | _, _ => false
        end
    end.
End Words.

(** ** All statements *)

(** A statement of a text: its words, and the instance that it is said to be. *)
Definition told := (string * (string * list expr * list expr))%type.

Definition is_instance (olds : list told) (iterators : list string) (new : told) : bool :=
  let '(text, (name, args, _)) := new in
  match find (fun old => String.eqb name (fst (fst (snd old)))) olds with
  | Some (text', (_, own, _)) =>
      let names := flat_map (fun a => match a with Var x => [x] | _ => [] end) own in
      Nat.eqb (List.length names) (List.length own) && Nat.eqb (List.length own) (List.length args) &&
      let old := words text' in
      same_words (combine names args) iterators (4 * List.length old + 10) old (words text)
  | None => false
  end.
