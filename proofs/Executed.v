(** * The executed relation of a program

    Every execution of a call has a place in the program: a path, which lists
    the position taken in each block and the value of the iterator of each
    loop on the way to the call.  The executed relation pairs paths with
    events; it is read off the tree alone, and the run of the program is this
    relation listed by increasing path. *)

From Coq Require Import ZArith List String Lia Sorted.
From Loopwright Require Import Loop Lexicographic.
Import ListNotations.
Open Scope Z_scope.

(** A loop that starts at [first] visits [v]: it is a whole number of steps
    away, and the test holds there and at every value on the way. *)
Definition visits (e : env) (x : string) (first : Z) (c : test) (s : positive) (v : Z) : Prop :=
  exists k, 0 <= k /\ v = first + Z.pos s * k /\
    forall j, 0 <= j <= k -> decide ((x, first + Z.pos s * j) :: e) c = true.

Inductive executes : env -> node -> list Z -> event -> Prop :=
| exec_call e f args hint :
    executes e (Call f args hint) [] (Event f (map (eval e) args) (map (eval e) hint))
| exec_block e cs k c p ev :
    nth_error cs k = Some c -> executes e c p ev ->
    executes e (Block cs) (Z.of_nat k :: p) ev
| exec_then e c a b p ev :
    decide e c = true -> executes e a p ev -> executes e (If c a b) p ev
| exec_else e c a b p ev :
    decide e c = false -> executes e b p ev -> executes e (If c a b) p ev
| exec_for e x a c s b v p ev :
    visits e x (eval e a) c s v -> executes ((x, v) :: e) b p ev ->
    executes e (For x a c s b) (v :: p) ev
| exec_let e x a b p ev :
    executes ((x, eval e a) :: e) b p ev -> executes e (Let x a b) p ev
| exec_mark e text b p ev :
    executes e b p ev -> executes e (Mark text b) p ev.

(** At one path there is one event. *)
Lemma executes_deterministic : forall e n p a,
  executes e n p a -> forall b, executes e n p b -> a = b.
Proof.
  induction 1; intros ev' H'; inversion H'; subst; try congruence; auto.
  match goal with H : Z.of_nat _ = Z.of_nat _ |- _ => apply Nat2Z.inj in H as -> end.
  match goal with H : nth_error _ _ = Some _, H' : nth_error _ _ = Some _ |- _ => rewrite H in H'; injection H' as -> end.
  auto.
Qed.

(** ** The first value of a loop, and the later ones *)

Lemma visits_none : forall e x first c s v,
  decide ((x, first) :: e) c = false -> ~ visits e x first c s v.
Proof.
  intros e x first c s v Hc (k & Hk & _ & Hall).
  specialize (Hall 0 ltac:(lia)). rewrite Z.mul_0_r, Z.add_0_r in Hall. congruence.
Qed.

Lemma visits_first_or_later : forall e x first c s v,
  decide ((x, first) :: e) c = true ->
  visits e x first c s v <-> v = first \/ visits e x (first + Z.pos s) c s v.
Proof.
  intros e x first c s v Hc. split.
  - intros (k & Hk & -> & Hall).
    destruct (Z.eq_dec k 0) as [-> | Hk0]; [left; lia | right].
    exists (k - 1). split; [lia | split; [lia |]]. intros j Hj.
    replace (first + Z.pos s + Z.pos s * j) with (first + Z.pos s * (j + 1)) by lia.
    apply Hall. lia.
  - intros [-> | (k & Hk & -> & Hall)].
    + exists 0. split; [lia | split; [lia |]]. intros j Hj.
      replace (first + Z.pos s * j) with first by (replace j with 0 by lia; lia). exact Hc.
    + exists (k + 1). split; [lia | split; [lia |]]. intros j Hj.
      destruct (Z.eq_dec j 0) as [-> | Hj0].
      * rewrite Z.mul_0_r, Z.add_0_r. exact Hc.
      * replace (first + Z.pos s * j) with (first + Z.pos s + Z.pos s * (j - 1)) by lia.
        apply Hall. lia.
Qed.

Lemma visits_from_first : forall e x first c s v, visits e x first c s v -> first <= v.
Proof. intros e x first c s v (k & Hk & -> & _). lia. Qed.

(** ** Placing a list of executions under a prefix *)

Definition under (k : Z) (l : list (list Z * event)) : list (list Z * event) :=
  map (fun pe => (k :: fst pe, snd pe)) l.

Definition one_later (pe : list Z * event) : list Z * event :=
  match pe with
  | (k :: p, ev) => (k + 1 :: p, ev)
  | pe => pe
  end.

Definition listed (e : env) (n : node) (t : trace) (l : list (list Z * event)) : Prop :=
  t = map snd l /\ StronglySorted lex_lt (map fst l) /\
  forall p ev, executes e n p ev <-> In (p, ev) l.

Lemma under_events : forall k l, map snd (under k l) = map snd l.
Proof. intros k l. unfold under. rewrite map_map. reflexivity. Qed.

Lemma in_under : forall k l p ev,
  In (p, ev) (under k l) <-> exists q, p = k :: q /\ In (q, ev) l.
Proof.
  intros k l p ev. unfold under. rewrite in_map_iff. split.
  - intros [[q ev'] [Heq Hin]]. injection Heq as <- <-. eauto.
  - intros (q & -> & Hin). exists (q, ev). auto.
Qed.

Lemma sorted_under : forall k l,
  StronglySorted lex_lt (map fst l) -> StronglySorted lex_lt (map fst (under k l)).
Proof.
  intros k l. induction l as [|[p ev] l IH]; simpl; intros H; [constructor|].
  inversion H as [|? ? Hs Hf]; subst. constructor; [auto|].
  clear -Hf. unfold under. rewrite map_map. rewrite Forall_map in *. simpl.
  eapply Forall_impl; [|exact Hf]. simpl. auto.
Qed.

Lemma sorted_append : forall (l1 l2 : list (list Z)),
  StronglySorted lex_lt l1 -> StronglySorted lex_lt l2 ->
  (forall a b, In a l1 -> In b l2 -> lex_lt a b) -> StronglySorted lex_lt (l1 ++ l2).
Proof.
  induction l1 as [|a l1 IH]; simpl; intros l2 H1 H2 H; [exact H2|].
  inversion H1; subst. constructor; [apply IH; auto|].
  apply Forall_app. split; [assumption|]. apply Forall_forall. auto.
Qed.

Lemma paths_in : forall (p : list Z) (l : list (list Z * event)),
  In p (map fst l) -> exists ev, In (p, ev) l.
Proof. intros p l H. apply in_map_iff in H as ([q ev] & <- & H). eauto. Qed.

Lemma block_path : forall e cs p ev,
  executes e (Block cs) p ev -> exists k q, p = Z.of_nat k :: q.
Proof. intros e cs p ev H. inversion H; subst. eauto. Qed.

Lemma one_later_events : forall l, map snd (map one_later l) = map snd l.
Proof. intros l. rewrite map_map. apply map_ext. intros [[|k p] ev]; reflexivity. Qed.

Lemma sorted_one_later : forall l,
  (forall p ev, In (p, ev) l -> p <> []) ->
  StronglySorted lex_lt (map fst l) -> StronglySorted lex_lt (map fst (map one_later l)).
Proof.
  induction l as [|[p ev] l IH]; simpl; intros Hne H; [constructor|].
  inversion H as [|? ? Hs Hf]; subst. constructor; [apply IH; eauto|].
  rewrite !Forall_map in *. rewrite Forall_forall in *. intros [q evq] Hq.
  specialize (Hf _ Hq). simpl in Hf.
  destruct p as [|k p]; [exfalso; eapply (Hne [] ev); auto|].
  destruct q as [|k' q]; [exfalso; eapply (Hne [] evq); eauto|].
  simpl in *. destruct Hf as [Hf | [-> Hf]]; [left; lia | right; auto].
Qed.

(** ** The run lists the executed relation

    A program that ends with trace [t] has executed exactly what its executed
    relation says, each path once, by increasing path. *)
Theorem run_lists_executed : forall e n t, runs e n t -> exists l, listed e n t l.
Proof.
  induction 1 as [e f args hint|e|e c cs t1 t2 _ [l1 H1] _ [l2 H2]
                 |e c a b t Hc _ [l H]|e c a b t Hc _ [l H]
                 |e x a c s b Hc|e x a c s b t1 t2 Hc _ [l1 H1] _ [l2 H2]
                 |e x a b t _ [l H]|e text b t _ [l H]].
  - eexists [([], _)]. split; [reflexivity|]. split; [repeat constructor|].
    intros p ev. split; intros H.
    + inversion H; subst. left. reflexivity.
    + destruct H as [H | []]. injection H as <- <-. constructor.
  - exists []. split; [reflexivity|]. split; [constructor|].
    intros p ev. split; intros H; [|destruct H].
    inversion H as [|? ? k ? ? ? Hk| | | | |]; subst. destruct k; discriminate.
  - destruct H1 as (-> & Hs1 & Hin1). destruct H2 as (-> & Hs2 & Hin2).
    exists (under 0 l1 ++ map one_later l2). split; [|split].
    + rewrite map_app, under_events, one_later_events. reflexivity.
    + rewrite map_app. apply sorted_append.
      * apply sorted_under, Hs1.
      * apply sorted_one_later; [|exact Hs2].
        intros p ev Hp ->. apply Hin2, block_path in Hp as (? & ? & ?). discriminate.
      * intros p q Hp Hq. apply paths_in in Hp as [ev Hp]. apply paths_in in Hq as [ev' Hq].
        apply in_under in Hp as (p' & -> & _).
        apply in_map_iff in Hq as ([q' ev2] & Heq & Hq).
        apply Hin2, block_path in Hq as (k & q2 & ->). injection Heq as <- <-.
        simpl. left. lia.
    + intros p ev. rewrite in_app_iff, in_under, in_map_iff. split.
      * intros H. inversion H as [|? ? k d q ? Hk Hd| | | | |]; subst.
        destruct k as [|k]; simpl in Hk.
        -- injection Hk as ->. left. exists q. split; [reflexivity | apply Hin1; exact Hd].
        -- right. exists (Z.of_nat k :: q, ev). split.
           ++ cbn [one_later]. do 2 f_equal. lia.
           ++ apply Hin2. econstructor; eauto.
      * intros [(q & -> & Hq) | ([q ev'] & Heq & Hq)].
        -- apply Hin1 in Hq. change 0 with (Z.of_nat 0). econstructor; [reflexivity | exact Hq].
        -- apply Hin2 in Hq. inversion Hq as [|? ? k d q' ? Hk Hd| | | | |]; subst.
           cbn [one_later] in Heq. injection Heq as <- <-.
           replace (Z.of_nat k + 1) with (Z.of_nat (S k)) by lia.
           econstructor; [exact Hk | exact Hd].
  - exists l. destruct H as (-> & Hs & Hin). split; [reflexivity|]. split; [exact Hs|].
    intros p ev. rewrite <- Hin. split; intros H; [inversion H; subst; [auto | congruence]|].
    apply exec_then; auto.
  - exists l. destruct H as (-> & Hs & Hin). split; [reflexivity|]. split; [exact Hs|].
    intros p ev. rewrite <- Hin. split; intros H; [inversion H; subst; [congruence | auto]|].
    apply exec_else; auto.
  - exists []. split; [reflexivity|]. split; [constructor|].
    intros p ev. split; intros H; [|destruct H].
    inversion H; subst. eapply visits_none; eauto.
  - destruct H1 as (-> & Hs1 & Hin1). destruct H2 as (-> & Hs2 & Hin2).
    exists (under (eval e a) l1 ++ l2). split; [|split].
    + rewrite map_app, under_events. reflexivity.
    + rewrite map_app. apply sorted_append; [apply sorted_under, Hs1 | exact Hs2|].
      intros p q Hp Hq. apply paths_in in Hp as [ev Hp]. apply paths_in in Hq as [ev' Hq].
      apply in_under in Hp as (p' & -> & _).
      apply Hin2 in Hq. inversion Hq as [| | | |? ? ? ? ? ? v ? ? Hv| |]; subst.
      apply visits_from_first in Hv. simpl in *. left. lia.
    + intros p ev. rewrite in_app_iff, in_under. split.
      * intros H. inversion H as [| | | |? ? ? ? ? ? v q ? Hv Hq| |]; subst.
        apply visits_first_or_later in Hv as [-> | Hv]; [| |exact Hc].
        -- left. exists q. split; [reflexivity | apply Hin1; exact Hq].
        -- right. apply Hin2. constructor; assumption.
      * intros [(q & -> & Hq) | Hq].
        -- apply Hin1 in Hq. constructor; [|exact Hq].
           apply visits_first_or_later; [exact Hc | left; reflexivity].
        -- apply Hin2 in Hq. inversion Hq as [| | | |? ? ? ? ? ? v q' ? Hv Hq'| |]; subst.
           constructor; [|exact Hq']. apply visits_first_or_later; [exact Hc | right; exact Hv].
  - exists l. destruct H as (-> & Hs & Hin). split; [reflexivity|]. split; [exact Hs|].
    intros p ev. rewrite <- Hin. split; intros H; [inversion H; subst; auto|]. constructor; auto.
  - exists l. destruct H as (-> & Hs & Hin). split; [reflexivity|]. split; [exact Hs|].
    intros p ev. rewrite <- Hin. split; intros H; [inversion H; subst; auto|]. constructor; auto.
Qed.
