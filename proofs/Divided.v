(** * Statements that are divided

    Where storage changes for some instances of a statement only, these have a
    name of their own: a part.  The checker of [Stored.v] is given the original
    with choices between calls of parts.  [joined] gives the parts the name of
    their statement again and drops choices between the same; what it leaves has
    the same trace but for the names ([joined_counts]).  If [check_divided] says
    [true], that is the original, and the original and the new program leave the
    same memory, where parts compute what their statement does
    ([divided_same_values]). *)

From Coq Require Import ZArith List String Bool.
From Loopwright Require Import Loop Scope Poly Formulas Memory Transformation Parallel Private Counting.
From Loopwright Require Import Linear Symbolic Specification Checker Changes Temporaries Reused Values Accounting Stored Text.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

(** ** The same terms *)

Definition relation_dec : forall r s : relation, {r = s} + {r <> s}.
Proof. decide equality. Defined.

Fixpoint expr_dec (a b : expr) {struct a} : {a = b} + {a <> b}
with test_dec (t u : test) {struct t} : {t = u} + {t <> u}.
Proof.
  - decide equality; try apply Z.eq_dec; try apply Pos.eq_dec; try apply string_dec; apply (list_eq_dec expr_dec).
  - decide equality; try apply relation_dec; apply (list_eq_dec test_dec).
Defined.

Fixpoint counted_dec (n m : counted) {struct n} : {n = m} + {n <> m}.
Proof.
  decide equality; try apply expr_dec; try apply test_dec; try apply Z.eq_dec; try apply string_dec;
    first [apply (list_eq_dec expr_dec) | apply (list_eq_dec counted_dec)].
Defined.

Definition place_dec : forall c d : place, {c = d} + {c <> d}.
Proof. decide equality; [apply (list_eq_dec expr_dec) | apply string_dec]. Defined.

Definition use_dec : forall u v : use, {u = v} + {u <> v}.
Proof. decide equality; [decide equality; apply string_dec | apply (list_eq_dec place_dec) | apply (list_eq_dec place_dec)]. Defined.

(** ** Parts and their statements *)

(** Names of parts, each with the name of its statement. *)
Definition division := list (string * string).

Definition whole (r : division) (f : string) : string :=
  match List.find (fun one => String.eqb f (fst one)) r with Some one => snd one | None => f end.

Definition undivided (r : division) (ev : event) : event := Event (whole r (name_of ev)) (arguments_of ev) (hint_of ev).

Fixpoint joined (r : division) (n : counted) : counted :=
  match n with
  | Calling f args hint => Calling (whole r f) args hint
  | Sequence l => Sequence (map (joined r) l)
  | Choice c a b => let a' := joined r a in let b' := joined r b in if counted_dec a' b' then a' else Choice c a' b'
  | Counting x a c s b => Counting x a c s (joined r b)
  | Naming x a b => Naming x a (joined r b)
  | Remark text b => Remark text (joined r b)
  end.

Theorem joined_counts : forall r e n t, counts e n t -> counts e (joined r n) (map (undivided r) t).
Proof.
  induction 1 as [e f args hint|e|e c cs t1 t2 _ IH1 _ IH2|e c a b t Hc _ IH|e c a b t Hc _ IH
                 |e x a c s b Hc|e x a c s b t1 t2 Hc _ IH1 _ IH2|e x a b t _ IH|e text b t _ IH];
    cbn [joined map]; rewrite ?map_app.
  - apply count_call.
  - apply count_nil.
  - apply count_cons; assumption.
  - destruct (counted_dec (joined r a) (joined r b)) as [_ | _]; [exact IH | apply count_then; assumption].
  - destruct (counted_dec (joined r a) (joined r b)) as [E | _]; [rewrite E; exact IH | apply count_else; assumption].
  - apply count_end, Hc.
  - apply count_step; assumption.
  - apply count_let, IH.
  - apply count_mark, IH.
Qed.

(** ** The check *)

Definition entry (l : list (shape * use)) (f : string) : option (shape * use) :=
  List.find (fun hu => String.eqb f (shape_name (fst hu))) l.

(** A part touches what its statement does. *)
Definition is_part (l : list (shape * use)) (one : string * string) : bool :=
  match entry l (fst one), entry l (snd one) with
  | Some (h, u), Some (g, v) =>
      if list_eq_dec string_dec (shape_arguments h) (shape_arguments g) then if use_dec u v then true else false else false
  | _, _ => false
  end.

Definition check_divided (U : stored) (r : division) (p : source) (n : counted) (p' : source) (how how' : proposal)
    (cs : list certificate) : bool :=
  match given (sizes (written U)) p with
  | Some m =>
      said (sizes (written U)) (everywhere (as_written U)) p && (if counted_dec (joined r n) m then true else false) && forallb (is_part (as_written U)) r &&
      forallb (fun h => negb (existsb (fun one => String.eqb (shape_name h) (fst one)) r)) (copying U) &&
      check_text_stored U (Term n) p' how how' cs
  | None => false
  end.

(** [texts_the_same_values], where a part computes what its statement does. *)
Definition texts_the_same_divided (U : stored) (r : division) (e : env) (n n' : counted) : Prop :=
  exists t, counts e n t /\ (exists t', counts e n' t') /\
  forall t', may_count e n' t' ->
  forall (value : Type) (f : event -> list value -> nat -> value),
  (forall ev x, named (copying U) ev = true -> f ev [x] 0%nat = x) ->
  forall m m' : memory value, (forall c, is_compared U (fst c) = true -> m c = m' c) ->
  forall c, is_compared U (fst c) = true ->
  run (by_values (as_written U) e f) t m c = run (by_values (as_stored U) e (fun ev => f (undivided r ev))) t' m' c.

(** ** Soundness *)

Lemma whole_or : forall r f, (exists one, In one r /\ fst one = f /\ whole r f = snd one) \/
  (whole r f = f /\ existsb (fun one => String.eqb f (fst one)) r = false).
Proof.
  intros r f. unfold whole. destruct (List.find (fun one => String.eqb f (fst one)) r) as [one|] eqn:E.
  - apply List.find_some in E as [Hin Heq]. apply String.eqb_eq in Heq. left. exists one. auto.
  - right. split; [reflexivity|]. apply not_true_is_false. intros H. apply existsb_exists in H as (one & Hin & Heq).
    pose proof (List.find_none _ _ E one Hin) as Hno. cbn beta in Hno. congruence.
Qed.

Lemma same_cells : forall l r pick e ev, forallb (is_part l) r = true ->
  cells_in l pick e (undivided r ev) = cells_in l pick e ev.
Proof.
  intros l r pick e ev H. unfold cells_in, undivided. cbn [name_of arguments_of].
  destruct (whole_or r (name_of ev)) as [(one & Hin & Hname & ->) | [-> _]]; [|reflexivity].
  rewrite forallb_forall in H. specialize (H one Hin). unfold is_part, entry in H. rewrite Hname in H.
  destruct (List.find _ l) as [[h u]|] eqn:E in H; [|discriminate].
  destruct (List.find (fun hu => String.eqb (snd one) (shape_name (fst hu))) l) as [[g v]|]; [|discriminate].
  destruct (list_eq_dec string_dec (shape_arguments h) (shape_arguments g)) as [Harg|]; [|discriminate].
  destruct (use_dec u v) as [->|]; [|discriminate]. rewrite E, Harg. reflexivity.
Qed.

Lemma same_runs : forall (value : Type) (f : event -> list value -> nat -> value) l r e t, forallb (is_part l) r = true ->
  forall m, run (by_values l e f) (map (undivided r) t) m = run (by_values l e (fun ev => f (undivided r ev))) t m.
Proof.
  intros value f l r e t H. induction t as [|ev t IH]; intros m; [reflexivity|]. cbn [map run fold_left].
  assert (Hstep : by_values l e f (undivided r ev) m = by_values l e (fun ev => f (undivided r ev)) ev m).
  { unfold by_values. rewrite !(same_cells l r _ e ev H). reflexivity. }
  first [rewrite Hstep; apply IH | unfold run in *; cbn; rewrite Hstep; apply IH].
Qed.

Lemma copies_apart : forall l r ev, forallb (fun h => negb (existsb (fun one : string * string => String.eqb (shape_name h) (fst one)) r)) l = true ->
  named l ev = true -> undivided r ev = ev.
Proof.
  intros l r [f args hint] H Hn. unfold named in Hn. apply existsb_exists in Hn as (h & Hin & Hname). cbn [name_of] in Hname.
  apply String.eqb_eq in Hname. rewrite forallb_forall in H. specialize (H h Hin). apply negb_true_iff in H.
  unfold undivided. cbn [name_of arguments_of hint_of].
  destruct (whole_or r f) as [(one & Hone & Hfst & _) | [-> _]]; [|reflexivity].
  assert (Hyes : existsb (fun one : string * string => String.eqb (shape_name h) (fst one)) r = true).
  { apply existsb_exists. exists one. split; [exact Hone|]. apply String.eqb_eq. congruence. }
  congruence.
Qed.

Theorem divided_same_values : forall U r p n p' how how' cs, check_divided U r p n p' how how' cs = true ->
  for_stored everywhere U p p' (texts_the_same_divided U r).
Proof.
  intros U r p n p' how how' cs H. unfold check_divided in H. destruct (given (sizes (written U)) p) as [m|] eqn:Em; [|discriminate].
  apply andb_prop in H as [H Hcheck]. apply andb_prop in H as [H Hcopies]. apply andb_prop in H as [H Hparts].
  apply andb_prop in H as [Hsaid Hjoin]. destruct (counted_dec (joined r n) m) as [<-|]; [|discriminate].
  destruct (text_same_values _ _ _ _ _ _ Hcheck) as (_ & d & n' & Hd & Hn' & Hsame). cbn [given] in Hd. injection Hd as <-.
  split; [exact Hsaid|]. exists (joined r n), n'. split; [exact Em | split; [exact Hn'|]]. intros q Hq.
  destruct (Hsame q Hq) as (t & Ht & Hend & Hany).
  exists (map (undivided r) t). split; [exact (joined_counts r _ _ _ Ht) | split; [exact Hend|]].
  intros t' Ht' value f Hf m0 m1 Hm c Hc. rewrite (same_runs value f _ _ _ t Hparts m0).
  apply (Hany t' Ht' value (fun ev => f (undivided r ev))); [|exact Hm | exact Hc].
  intros ev x Hev. rewrite (copies_apart _ _ ev Hcopies Hev). exact (Hf ev x Hev).
Qed.
