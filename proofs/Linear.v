(** * Linear arithmetic over the integers, by certificates

    A goal is a list of facts about integer variables that have no common
    solution.  A certificate says why: a sum of multiples of facts is a
    negative number (Farkas); before that, sums may be divided and rounded
    (cuts), and cases distinguished.  Who finds a certificate does not matter;
    [refutes] checks it, and [refutes_sound] says that it may be believed. *)

From Coq Require Import ZArith List Bool Lia.
Import ListNotations.
Open Scope Z_scope.

(** ** Linear terms *)

(** A number, and the coefficients of the variables 0, 1, 2, ... *)
Definition lin := (Z * list Z)%type.

(** The values of the variables are a vector. *)
Fixpoint dot (k v : list Z) : Z :=
  match k, v with
  | a :: k', b :: v' => a * b + dot k' v'
  | _, _ => 0
  end.

Definition value (v : list Z) (l : lin) : Z := fst l + dot (snd l) v.

Fixpoint add_vectors (k m : list Z) : list Z :=
  match k, m with
  | [], _ => m
  | _, [] => k
  | a :: k', b :: m' => (a + b) :: add_vectors k' m'
  end.

Definition number (c : Z) : lin := (c, []).
Definition plus (l m : lin) : lin := (fst l + fst m, add_vectors (snd l) (snd m)).
Definition times (a : Z) (l : lin) : lin := (a * fst l, map (Z.mul a) (snd l)).
Definition minus (l m : lin) : lin := plus l (times (-1) m).
Definition variable (k : nat) : lin := (0, repeat 0 k ++ [1]).

Lemma dot_add : forall k m v, dot (add_vectors k m) v = dot k v + dot m v.
Proof.
  induction k as [|a k IH]; intros [|b m] [|c v]; cbn [add_vectors dot]; try lia. rewrite IH. lia.
Qed.

Lemma dot_map : forall a k v, dot (map (Z.mul a) k) v = a * dot k v.
Proof. intros a. induction k as [|b k IH]; intros [|c v]; cbn [map dot]; try lia. rewrite IH. lia. Qed.

Lemma value_plus : forall v l m, value v (plus l m) = value v l + value v m.
Proof. intros v l m. unfold value, plus. cbn [fst snd]. rewrite dot_add. lia. Qed.

Lemma value_times : forall v a l, value v (times a l) = a * value v l.
Proof. intros v a l. unfold value, times. cbn [fst snd]. rewrite dot_map. lia. Qed.

Lemma value_minus : forall v l m, value v (minus l m) = value v l - value v m.
Proof. intros v l m. unfold minus. rewrite value_plus, value_times. lia. Qed.

Lemma value_number : forall v c, value v (number c) = c.
Proof. intros v c. unfold value, number. cbn. lia. Qed.

Lemma dot_variable : forall k v, dot (repeat 0 k ++ [1]) v = nth k v 0.
Proof.
  induction k as [|k IH]; intros [|c v]; cbn [repeat app dot nth]; try lia.
  rewrite IH. lia.
Qed.

Lemma value_variable : forall v k, value v (variable k) = nth k v 0.
Proof. intros v k. unfold value, variable. cbn [fst snd]. rewrite dot_variable. lia. Qed.

(** No variable occurs. *)
Definition constant (l : lin) : bool := forallb (Z.eqb 0) (snd l).

Lemma constant_value : forall v l, constant l = true -> value v l = fst l.
Proof.
  intros v [c k]. unfold constant, value. cbn [fst snd]. revert v.
  induction k as [|a k IH]; intros v H; [destruct v; cbn; lia|].
  cbn [forallb] in H. apply andb_prop in H as [Ha H]. destruct v as [|b v]; cbn [dot]; [lia|].
  specialize (IH v H). lia.
Qed.

(** ** Facts *)

Inductive fact :=
| Above (l : lin)              (* 0 <= l *)
| Zero (l : lin)               (* 0 = l *)
| Both (facts : list fact)     (* all of them *)
| Either (facts : list fact).  (* one of them *)

(** All variables of [l] have a value in [v]. *)
Definition within (v : list Z) (l : lin) : Prop := (length (snd l) <= length v)%nat.

Fixpoint true_at (v : list Z) (f : fact) : Prop :=
  match f with
  | Above l => within v l /\ 0 <= value v l
  | Zero l => within v l /\ value v l = 0
  | Both fs => fold_right (fun f rest => true_at v f /\ rest) True fs
  | Either fs => fold_right (fun f rest => true_at v f \/ rest) False fs
  end.

Lemma both_all : forall v fs, true_at v (Both fs) <-> Forall (true_at v) fs.
Proof.
  intros v. induction fs as [|f fs IH]; cbn [true_at fold_right].
  - split; constructor.
  - cbn [true_at] in IH. rewrite IH. split; [intros [H1 H2]; constructor; auto | intros H; inversion H; auto].
Qed.

Lemma either_some : forall v fs, true_at v (Either fs) <-> Exists (true_at v) fs.
Proof.
  intros v. induction fs as [|f fs IH]; cbn [true_at fold_right].
  - split; [contradiction | intros H; inversion H].
  - cbn [true_at] in IH. rewrite IH. split; [intros [H | H]; [left | right]; auto | intros H; inversion H; auto].
Qed.

Section FactInduction.
  Variable P : fact -> Prop.
  Hypothesis case_above : forall l, P (Above l).
  Hypothesis case_zero : forall l, P (Zero l).
  Hypothesis case_both : forall fs, Forall P fs -> P (Both fs).
  Hypothesis case_either : forall fs, Forall P fs -> P (Either fs).

  Fixpoint fact_induction (f : fact) : P f :=
    let each := fix each (fs : list fact) : Forall P fs :=
      match fs with
      | [] => Forall_nil P
      | g :: fs' => Forall_cons g (fact_induction g) (each fs')
      end in
    match f with
    | Above l => case_above l
    | Zero l => case_zero l
    | Both fs => case_both fs (each fs)
    | Either fs => case_either fs (each fs)
    end.
End FactInduction.

(** Further variables change nothing. *)
Lemma within_more : forall v w l, within v l -> within (v ++ w) l.
Proof. intros v w l H. unfold within in *. rewrite app_length. lia. Qed.

Lemma value_more : forall v w l, within v l -> value (v ++ w) l = value v l.
Proof.
  intros v w [c k] H. unfold value, within in *. cbn [fst snd] in *. f_equal. revert v H.
  induction k as [|a k IH]; intros [|b v] H; cbn [dot app]; try reflexivity.
  - cbn [length] in H. lia.
  - cbn [length] in H. rewrite IH by lia. reflexivity.
Qed.

Lemma true_at_more : forall v w f, true_at v f -> true_at (v ++ w) f.
Proof.
  intros v w. induction f as [l|l|fs IH|fs IH] using fact_induction.
  - intros [Hw H]. split; [apply within_more, Hw | rewrite value_more; assumption].
  - intros [Hw H]. split; [apply within_more, Hw | rewrite value_more; assumption].
  - rewrite !both_all. intros H. rewrite Forall_forall in *. auto.
  - rewrite !either_some. intros H. rewrite Exists_exists in *. destruct H as (f & Hf & H).
    exists f. rewrite Forall_forall in IH. auto.
Qed.

(** *** Facts that decide themselves are simplified away *)

Definition never : fact := Either [].
Definition always : fact := Both [].

Definition above (l : lin) : fact := if constant l then (if 0 <=? fst l then always else never) else Above l.
Definition zero (l : lin) : fact := if constant l then (if fst l =? 0 then always else never) else Zero l.

Fixpoint join (fs : list fact) : list fact :=
  match fs with
  | [] => []
  | Both gs :: fs' => gs ++ join fs'
  | Either [] :: _ => [never]
  | f :: fs' => match join fs' with
                | [Either []] => [never]
                | gs => f :: gs
                end
  end.

Definition both (fs : list fact) : fact :=
  match join fs with
  | [f] => f
  | gs => Both gs
  end.

Fixpoint choose (fs : list fact) : list fact :=
  match fs with
  | [] => []
  | Either gs :: fs' => gs ++ choose fs'
  | Both [] :: _ => [always]
  | f :: fs' => match choose fs' with
                | [Both []] => [always]
                | gs => f :: gs
                end
  end.

Definition either (fs : list fact) : fact :=
  match choose fs with
  | [f] => f
  | gs => Either gs
  end.

Lemma above_true : forall v l, within v l -> 0 <= value v l -> true_at v (above l).
Proof.
  intros v l Hw H. unfold above. destruct (constant l) eqn:Hc; [|split; assumption].
  rewrite (constant_value v l Hc) in H. rewrite (proj2 (Z.leb_le _ _) H). exact I.
Qed.

Lemma zero_true : forall v l, within v l -> value v l = 0 -> true_at v (zero l).
Proof.
  intros v l Hw H. unfold zero. destruct (constant l) eqn:Hc; [|split; assumption].
  rewrite (constant_value v l Hc) in H. rewrite H. exact I.
Qed.

Lemma join_true : forall v fs, Forall (true_at v) fs -> Forall (true_at v) (join fs).
Proof.
  intros v fs H. induction H as [|f fs Hf _ IH]; [constructor|].
  assert (Hgen : Forall (true_at v) (match join fs with [Either []] => [never] | gs => f :: gs end)).
  { destruct (join fs) as [|[l|l|gs|[|g gs]] [|h rest]]; try (constructor; assumption).
    inversion IH as [|? ? Hn _]; subst. destruct Hn. }
  destruct f as [l|l|gs|[|g gs]]; cbn [join]; try exact Hgen.
  - apply Forall_app. split; [apply both_all, Hf | exact IH].
  - destruct Hf.
Qed.

Lemma both_true : forall v fs, Forall (true_at v) fs -> true_at v (both fs).
Proof.
  intros v fs H. apply join_true in H. unfold both.
  destruct (join fs) as [|f [|g gs]]; [exact I | inversion H; assumption | apply both_all, H].
Qed.

Lemma choose_true : forall v fs, Exists (true_at v) fs -> Exists (true_at v) (choose fs).
Proof.
  intros v fs H. induction fs as [|f fs IH]; [exact H|].
  assert (Hgen : Exists (true_at v) (match choose fs with [Both []] => [always] | gs => f :: gs end)).
  { inversion H as [? ? Hf | ? ? Hfs]; subst.
    - destruct (choose fs) as [|[l|l|[|g gs]|gs] [|h rest]]; try (left; assumption). left. exact I.
    - specialize (IH Hfs). destruct (choose fs) as [|[l|l|[|g gs]|gs] [|h rest]]; try (right; assumption). exact IH. }
  destruct f as [l|l|[|g gs]|gs]; cbn [choose]; try exact Hgen.
  - left. exact I.
  - apply Exists_app. inversion H as [? ? Hf | ? ? Hfs]; subst; [left; apply either_some, Hf | right; apply IH, Hfs].
Qed.

Lemma either_true : forall v fs, Exists (true_at v) fs -> true_at v (either fs).
Proof.
  intros v fs H. apply choose_true in H. unfold either.
  destruct (choose fs) as [|f [|g gs]]; [inversion H | inversion H as [? ? Hf | ? ? Hf]; [exact Hf | inversion Hf] | apply either_some, H].
Qed.

(** ** Certificates *)

(** Multiples of facts: after skipping so many of them, so many times the next. *)
Definition combination := list (nat * Z).

Inductive certificate :=
| Farkas (c : combination)                        (* the sum is a negative number *)
| Cut (c : combination) (d : positive) (rest : certificate)
    (* the sum, divided by [d] and rounded down, is a new fact *)
| Split (l : lin) (up down : certificate)         (* 0 <= l, or 0 <= -1 - l *)
| Cases (skip : nat) (branches : list certificate).   (* which of [Either] *)

(** New facts come first; conjunctions are taken apart. *)
Definition push (f : fact) (facts : list fact) : list fact :=
  match f with
  | Both gs => gs ++ facts
  | _ => f :: facts
  end.

Definition multiple (a : Z) (f : fact) : option lin :=
  match f with
  | Above l => if 0 <=? a then Some (times a l) else None
  | Zero l => Some (times a l)
  | _ => None
  end.

Fixpoint combined (c : combination) (facts : list fact) (sum : lin) : option lin :=
  match c with
  | [] => Some sum
  | (k, a) :: c' =>
      match skipn k facts with
      | [] => None
      | f :: facts' =>
          match multiple a f with
          | Some l => combined c' facts' (plus l sum)
          | None => None
          end
      end
  end.

Definition divisible (d : positive) (l : lin) : bool := forallb (fun a => a mod Z.pos d =? 0) (snd l).
Definition divided (d : positive) (l : lin) : lin := (fst l / Z.pos d, map (fun a => a / Z.pos d) (snd l)).

Fixpoint refutes (c : certificate) (facts : list fact) : bool :=
  match c with
  | Farkas s =>
      match combined s facts (number 0) with
      | Some l => constant l && (fst l <? 0)
      | None => false
      end
  | Cut s d c' =>
      match combined s facts (number 0) with
      | Some l => divisible d l && refutes c' (Above (divided d l) :: facts)
      | None => false
      end
  | Split l up down =>
      refutes up (Above l :: facts) && refutes down (Above (minus (number (-1)) l) :: facts)
  | Cases k branches =>
      match nth_error facts k with
      | Some (Either fs) =>
          (fix each (fs : list fact) (cs : list certificate) {struct cs} : bool :=
             match fs, cs with
             | [], [] => true
             | f :: fs', c' :: cs' => refutes c' (push f facts) && each fs' cs'
             | _, _ => false
             end) fs branches
      | _ => false
      end
  end.

(** No values of the variables make all facts true.  Here facts are about the
    values alone: a variable without a value counts as 0. *)
Fixpoint plainly (v : list Z) (f : fact) : Prop :=
  match f with
  | Above l => 0 <= value v l
  | Zero l => value v l = 0
  | Both fs => fold_right (fun f rest => plainly v f /\ rest) True fs
  | Either fs => fold_right (fun f rest => plainly v f \/ rest) False fs
  end.

Lemma true_plainly : forall v f, true_at v f -> plainly v f.
Proof.
  intros v. induction f as [l|l|fs IH|fs IH] using fact_induction; cbn [true_at plainly].
  - intros [_ H]. exact H.
  - intros [_ H]. exact H.
  - induction IH as [|f fs Hf _ IHfs]; cbn [fold_right]; [auto | intros [H1 H2]; auto].
  - induction IH as [|f fs Hf _ IHfs]; cbn [fold_right]; [auto | intros [H | H]; auto].
Qed.

Lemma push_plainly : forall v f facts,
  plainly v f -> Forall (plainly v) facts -> Forall (plainly v) (push f facts).
Proof.
  intros v [l|l|gs|gs] facts Hf H; cbn [push]; try (constructor; assumption).
  apply Forall_app. split; [|exact H]. cbn [plainly] in Hf.
  induction gs as [|g gs IH]; [constructor|]. destruct Hf as [H1 H2]. constructor; auto.
Qed.

Lemma combined_plainly : forall v c facts sum l,
  Forall (plainly v) facts -> 0 <= value v sum -> combined c facts sum = Some l -> 0 <= value v l.
Proof.
  intros v. induction c as [|[k a] c IH]; intros facts sum l Hfacts Hsum H; cbn [combined] in H.
  - injection H as <-. exact Hsum.
  - destruct (skipn k facts) as [|f facts'] eqn:Hk; [discriminate|].
    assert (Hrest : Forall (plainly v) (f :: facts')).
    { rewrite <- Hk. rewrite <- (firstn_skipn k facts) in Hfacts. apply Forall_app in Hfacts. apply Hfacts. }
    inversion Hrest as [|? ? Hf Hfacts']; subst.
    destruct (multiple a f) as [m|] eqn:Hm; [|discriminate].
    apply (IH _ _ _ Hfacts') in H; [exact H|]. rewrite value_plus.
    destruct f; cbn [multiple] in Hm; try discriminate; cbn [plainly] in Hf.
    + destruct (Z.leb_spec 0 a); [|discriminate]. injection Hm as <-. rewrite value_times. nia.
    + injection Hm as <-. rewrite value_times, Hf. lia.
Qed.

Lemma divided_value : forall v d l, divisible d l = true ->
  dot (snd l) v = Z.pos d * dot (snd (divided d l)) v.
Proof.
  intros v d [c k]. unfold divisible, divided. cbn [fst snd]. revert v.
  induction k as [|a k IH]; intros v H; [destruct v; cbn; lia|].
  cbn [forallb] in H. apply andb_prop in H as [Ha H]. destruct v as [|b v]; cbn [map dot]; [lia|].
  rewrite (IH v H). apply Z.eqb_eq in Ha.
  pose proof (Z.div_mod a (Z.pos d) ltac:(lia)) as Hd. rewrite Ha in Hd. rewrite Hd at 1. ring.
Qed.

Lemma rounded : forall v d l, divisible d l = true -> 0 <= value v l -> 0 <= value v (divided d l).
Proof.
  intros v d l Hd H. pose proof (divided_value v d l Hd) as Hv. unfold value in *. rewrite Hv in H.
  cbn [divided fst snd] in *. set (x := dot (map _ _) v) in *.
  pose proof (Z.div_mod (fst l) (Z.pos d) ltac:(lia)) as Hc.
  pose proof (Z.mod_pos_bound (fst l) (Z.pos d) ltac:(lia)) as Hb.
  rewrite Hc in H. nia.
Qed.

Fixpoint refutes_plainly (c : certificate) : forall v facts,
  refutes c facts = true -> Forall (plainly v) facts -> False.
Proof.
  intros v facts H Hfacts. destruct c as [s|s d c|l up down|k branches]; cbn [refutes] in H.
  - destruct (combined s facts (number 0)) as [l|] eqn:Hs; [|discriminate].
    apply andb_prop in H as [Hc Hneg]. apply Z.ltb_lt in Hneg.
    apply (combined_plainly v) in Hs; [|exact Hfacts | rewrite value_number; lia].
    rewrite (constant_value v l Hc) in Hs. lia.
  - destruct (combined s facts (number 0)) as [l|] eqn:Hs; [|discriminate].
    apply andb_prop in H as [Hd H].
    apply (combined_plainly v) in Hs; [|exact Hfacts | rewrite value_number; lia].
    apply (refutes_plainly c v _ H). constructor; [|exact Hfacts]. exact (rounded v d l Hd Hs).
  - apply andb_prop in H as [Hup Hdown]. destruct (Z_le_gt_dec 0 (value v l)) as [Hl | Hl].
    + apply (refutes_plainly up v _ Hup). constructor; assumption.
    + apply (refutes_plainly down v _ Hdown). constructor; [|exact Hfacts].
      cbn [plainly]. rewrite value_minus, value_number. lia.
  - destruct (nth_error facts k) as [[l|l|fs|fs]|] eqn:Hk; try discriminate.
    apply nth_error_In in Hk. rewrite Forall_forall in Hfacts. pose proof (Hfacts _ Hk) as Hone.
    cbn [plainly] in Hone. clear Hk. revert fs Hone H.
    induction branches as [|c branches IH]; intros [|f fs] Hone H; try discriminate; [exact Hone|].
    apply andb_prop in H as [Hc H]. destruct Hone as [Hf | Hone]; [|exact (IH fs Hone H)].
    apply (refutes_plainly c v _ Hc). apply push_plainly; [exact Hf|]. rewrite Forall_forall. exact Hfacts.
Qed.

Theorem refutes_sound : forall c facts, refutes c facts = true -> forall v, ~ Forall (true_at v) facts.
Proof.
  intros c facts H v Hv. apply (refutes_plainly c v facts H).
  revert Hv. apply Forall_impl. apply true_plainly.
Qed.
