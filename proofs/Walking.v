(** * Obligations call by call

    Three ways down the tree of a program, each by recursion, so that a
    program's obligations unfold to one formula for each call: nothing missing
    along a given path, nothing extra, and order where the iterators of the
    loops are places of the schedule. *)

From Coq Require Import ZArith List String Bool Lia.
From Loopwright Require Import Loop Lexicographic Poly Formulas Reduction Ordering.
Import ListNotations.
Open Scope Z_scope.

(** ** Nothing missing: the way to a call *)

Inductive step :=
| Child (k : nat)       (* the child of a block, from 0 *)
| Iterate (v : Z)       (* this iteration of a loop *)
| Yes                   (* the branch of a conditional *)
| No
| Enter.                (* into a let or a mark *)

(** Equality of vectors, place by place. *)
Fixpoint agree (x y : list Z) : Prop :=
  match x, y with
  | [], [] => True
  | a :: x', b :: y' => a = b /\ agree x' y'
  | _, _ => False
  end.

Lemma agree_equal : forall x y, agree x y -> x = y.
Proof.
  induction x as [|a x IH]; intros [|b y] H; try contradiction; [reflexivity|].
  destruct H as [-> H]. f_equal. exact (IH y H).
Qed.

(** The path leads to a call that executes [ev]. *)
Fixpoint leads (path : list step) (e : env) (n : node) (ev : event) : Prop :=
  match path, n with
  | [], Call f args hint =>
      if String.eqb (name_of ev) f
      then agree (arguments_of ev) (map (eval e) args) /\ agree (hint_of ev) (map (eval e) hint)
      else False
  | Child k :: path', Block cs =>
      match nth_error cs k with
      | Some c => leads path' e c ev
      | None => False
      end
  | Iterate v :: path', For x a c s b =>
      strided (eval e a) s v /\ holds ((x, v) :: e) c /\ leads path' ((x, v) :: e) b ev
  | Yes :: path', If c a _ => holds e c /\ leads path' e a ev
  | No :: path', If c _ b => ~ holds e c /\ leads path' e b ev
  | Enter :: path', Let x a b => leads path' ((x, eval e a) :: e) b ev
  | Enter :: path', Mark _ b => leads path' e b ev
  | _, _ => False
  end.

Theorem leads_reached : forall path e n ev, leads path e n ev -> reached e n ev.
Proof.
  induction path as [|one path IH]; intros e n ev H.
  { destruct n; try contradiction. cbn [leads] in H. destruct (String.eqb_spec (name_of ev) name) as [<- | _];
      [|contradiction]. destruct H as [H1 H2]. apply agree_equal in H1. apply agree_equal in H2.
    cbn [reached]. rewrite <- H1, <- H2. destruct ev. reflexivity. }
  destruct one; destruct n; try contradiction; cbn [leads] in H; cbn [reached].
  - destruct (nth_error children k) as [c|] eqn:Hk; [|contradiction].
    apply any_nth. exists k, c. auto.
  - destruct H as (Hv & Hc & H). exists v. auto.
  - destruct H as [Hc H]. left. auto.
  - destruct H as [Hc H]. right. auto.
  - exact (IH _ _ _ H).
  - exact (IH _ _ _ H).
Qed.

(** ** Nothing extra: something holds of every call *)

Fixpoint each_call (Q : event -> Prop) (e : env) (n : node) : Prop :=
  match n with
  | Call f args hint => Q (Event f (map (eval e) args) (map (eval e) hint))
  | Block cs => all (map (each_call Q e) cs)
  | If c a b => (holds e c -> each_call Q e a) /\ (~ holds e c -> each_call Q e b)
  | For x a c s b => forall v, strided (eval e a) s v -> holds ((x, v) :: e) c -> each_call Q ((x, v) :: e) b
  | Let x a b => each_call Q ((x, eval e a) :: e) b
  | Mark _ b => each_call Q e b
  end.

Theorem each_call_reached : forall Q n e,
  each_call Q e n -> forall ev, reached e n ev -> Q ev.
Proof.
  intros Q. induction n as [f args hint|cs IH|c a b IHa IHb|x a c s b IHb|x a b IHb|text b IHb]
    using node_induction; intros e H ev Hev; cbn [each_call] in H; cbn [reached] in Hev.
  - subst ev. exact H.
  - induction IH as [|c cs Hc _ IHcs]; [destruct Hev|].
    cbn [map] in H, Hev. apply all_cons in H as [H1 H2]. destruct Hev as [Hev | Hev]; eauto.
  - destruct H as [Ha Hb]. destruct Hev as [[Hc Hev] | [Hc Hev]]; eauto.
  - destruct Hev as (v & Hv & Hc & Hev). eauto.
  - eauto.
  - eauto.
Qed.

(** ** Order: which places of the time the tree fixes

    [Loop cs s]: the time goes on with the numbers [cs], then the iterator.
    [Cut l]: in the children of a block it goes on with these numbers.
    [Offsets l]: in the children of a block, which an unrolled loop became, it
    goes on with places such as [8 i + 3], written [([(8, "i")], 3)].
    [Fork s s']: a conditional.  [Same s]: a let or a mark.  [Leaf]: a call. *)
Definition place := (list (Z * string) * Z)%type.

Definition place_value (e : env) (p : place) : Z :=
  fold_right (fun term rest => fst term * lookup (snd term) e + rest) (snd p) (fst p).

Inductive slots :=
| Leaf
| Loop (numbers : list Z) (body : slots)
| Cut (children : list (list Z * slots))
| Offsets (children : list (list place * slots))
| Fork (yes no : slots)
| Same (body : slots).

(** In [n], whose time starts with [known], every call has the places of [s]. *)
Fixpoint placed (P : poly) (known : list Z) (s : slots) (e : env) (n : node) : Prop :=
  match s, n with
  | Leaf, Call f args hint => starts_with known (time_of P (Event f (map (eval e) args) (map (eval e) hint)))
  | Leaf, Block [] => True
  | Loop cs s', For x a c st b => forall v,
      strided (eval e a) st v -> holds ((x, v) :: e) c -> placed P (known ++ cs ++ [v]) s' ((x, v) :: e) b
  | Cut l, Block ns =>
      (fix each (l : list (list Z * slots)) (ns : list node) : Prop :=
         match l, ns with
         | [], [] => True
         | (cs, s') :: l', n' :: ns' => placed P (known ++ cs) s' e n' /\ each l' ns'
         | _, _ => False
         end) l ns
  | Offsets l, Block ns =>
      (fix each (l : list (list place * slots)) (ns : list node) : Prop :=
         match l, ns with
         | [], [] => True
         | (cs, s') :: l', n' :: ns' => placed P (known ++ map (place_value e) cs) s' e n' /\ each l' ns'
         | _, _ => False
         end) l ns
  | Fork s1 s2, If c a b => (holds e c -> placed P known s1 e a) /\ (~ holds e c -> placed P known s2 e b)
  | Same s', Let x a b => placed P known s' ((x, eval e a) :: e) b
  | Same s', Mark _ b => placed P known s' e b
  | _, _ => False
  end.

(** One list of numbers is smaller than another at a place that both have. *)
Fixpoint clearly_before (a b : list Z) : bool :=
  match a, b with
  | x :: a', y :: b' => (x <? y) || ((x =? y) && clearly_before a' b')
  | _, _ => false
  end.

Fixpoint same_terms (a b : list (Z * string)) : bool :=
  match a, b with
  | [], [] => true
  | (k, x) :: a', (l, y) :: b' => (k =? l) && String.eqb x y && same_terms a' b'
  | _, _ => false
  end.

(** The same of places, which have the same terms and different numbers. *)
Fixpoint offset_before (a b : list place) : bool :=
  match a, b with
  | (l, x) :: a', (m, y) :: b' => same_terms l m && ((x <? y) || ((x =? y) && offset_before a' b'))
  | _, _ => false
  end.

(** The numbers of a block increase from child to child. *)
Fixpoint increasing (s : slots) : bool :=
  match s with
  | Leaf => true
  | Loop _ s' => increasing s'
  | Cut l =>
      (fix each (l : list (list Z * slots)) : bool :=
         match l with
         | [] => true
         | (cs, s') :: l' => increasing s' && forallb (fun d => clearly_before cs (fst d)) l' && each l'
         end) l
  | Offsets l =>
      (fix each (l : list (list place * slots)) : bool :=
         match l with
         | [] => true
         | (cs, s') :: l' => increasing s' && forallb (fun d => offset_before cs (fst d)) l' && each l'
         end) l
  | Fork s1 s2 => increasing s1 && increasing s2
  | Same s' => increasing s'
  end.

Lemma starts_with_app : forall a b t, starts_with (a ++ b) t -> starts_with a t.
Proof.
  induction a as [|x a IH]; intros b [|y t]; simpl; auto. intros [H1 H2]. eauto.
Qed.

Lemma clearly_before_lt : forall common a b t u,
  clearly_before a b = true -> starts_with (common ++ a) t -> starts_with (common ++ b) u -> lex_lt t u.
Proof.
  induction common as [|z common IH].
  - induction a as [|x a IHa]; intros [|y b] [|v t] [|w u]; simpl; try discriminate; try tauto.
    intros H [-> Ht] [-> Hu]. apply orb_prop in H as [H | H].
    + left. lia.
    + apply andb_prop in H as [He H]. right. split; [lia | eauto].
  - intros a b [|v t] [|w u]; simpl; try tauto. intros H [-> Ht] [-> Hu]. right. eauto.
Qed.

Lemma same_terms_equal : forall a b, same_terms a b = true -> a = b.
Proof.
  induction a as [|[k x] a IH]; intros [|[l y] b] H; simpl in H; try discriminate; [reflexivity|].
  apply andb_prop in H as [H Hrest]. apply andb_prop in H as [Hk Hx].
  apply Z.eqb_eq in Hk. apply String.eqb_eq in Hx. subst. f_equal. auto.
Qed.

Lemma place_value_number : forall e l x, place_value e (l, x) = place_value e (l, 0) + x.
Proof.
  intros e l x. unfold place_value. cbn [fst snd].
  induction l as [|t l IH]; cbn [fold_right]; [lia | rewrite IH; lia].
Qed.

Lemma offset_before_values : forall e a b,
  offset_before a b = true -> clearly_before (map (place_value e) a) (map (place_value e) b) = true.
Proof.
  intros e. induction a as [|[l x] a IH]; intros [|[m y] b] H; cbn [offset_before] in H; try discriminate.
  apply andb_prop in H as [Hsame H]. apply same_terms_equal in Hsame as ->.
  cbn [map clearly_before]. rewrite (place_value_number e m x), (place_value_number e m y).
  apply orb_true_iff. apply orb_prop in H as [H | H].
  - left. lia.
  - apply andb_prop in H as [He H]. right. apply andb_true_iff. split; [lia | exact (IH _ H)].
Qed.

Section SlotsInduction.
  Variable Q : slots -> Prop.
  Hypothesis case_leaf : Q Leaf.
  Hypothesis case_loop : forall cs s, Q s -> Q (Loop cs s).
  Hypothesis case_cut : forall l, Forall (fun d => Q (snd d)) l -> Q (Cut l).
  Hypothesis case_offsets : forall l, Forall (fun d => Q (snd d)) l -> Q (Offsets l).
  Hypothesis case_fork : forall s s', Q s -> Q s' -> Q (Fork s s').
  Hypothesis case_same : forall s, Q s -> Q (Same s).

  Fixpoint slots_induction (s : slots) : Q s :=
    match s with
    | Leaf => case_leaf
    | Loop cs s' => case_loop cs s' (slots_induction s')
    | Cut l => case_cut l
        ((fix each (l : list (list Z * slots)) : Forall (fun d => Q (snd d)) l :=
            match l with
            | [] => Forall_nil _
            | d :: l' => Forall_cons d (slots_induction (snd d)) (each l')
            end) l)
    | Offsets l => case_offsets l
        ((fix each (l : list (list place * slots)) : Forall (fun d => Q (snd d)) l :=
            match l with
            | [] => Forall_nil _
            | d :: l' => Forall_cons d (slots_induction (snd d)) (each l')
            end) l)
    | Fork s1 s2 => case_fork s1 s2 (slots_induction s1) (slots_induction s2)
    | Same s' => case_same s' (slots_induction s')
    end.
End SlotsInduction.

(** All times start with what is known. *)
Lemma placed_start : forall P s known e n,
  placed P known s e n -> forall ev, reached e n ev -> starts_with known (time_of P ev).
Proof.
  intros P. induction s as [|cs s IH|l IH|l IH|s1 s2 IH1 IH2|s IH] using slots_induction;
    intros known e n H ev Hev; destruct n; cbn [placed] in H; try contradiction.
  - cbn in Hev. subst ev. exact H.
  - destruct children; [destruct Hev | contradiction].
  - destruct Hev as (v & Hv & Hc & Hev). apply (starts_with_app _ (cs ++ [v])). eapply IH; eauto.
  - cbn [reached] in Hev. revert children H Hev.
    induction IH as [|[cs s] l Hs _ IHl]; intros [|n ns] H Hev; try contradiction.
    destruct H as [H1 H2]. cbn [map any] in Hev. destruct Hev as [Hev | Hev].
    + apply (starts_with_app _ cs). eapply Hs; eauto.
    + eapply IHl; eauto.
  - cbn [reached] in Hev. revert children H Hev.
    induction IH as [|[cs s] l Hs _ IHl]; intros [|n ns] H Hev; try contradiction.
    destruct H as [H1 H2]. cbn [map any] in Hev. destruct Hev as [Hev | Hev].
    + apply (starts_with_app _ (map (place_value e) cs)). eapply Hs; eauto.
    + eapply IHl; eauto.
  - destruct H as [Ha Hb]. destruct Hev as [[Hc Hev] | [Hc Hev]]; eauto.
  - eapply IH; eauto.
  - eapply IH; eauto.
Qed.

Theorem placed_ordered : forall P (R : event -> event -> Prop), (forall a b, sooner P a b -> R a b) ->
  forall s known e n, increasing s = true -> placed P known s e n -> ordered R e n.
Proof.
  intros P R HR. induction s as [|cs s IH|l IH|l IH|s1 s2 IH1 IH2|s IH] using slots_induction;
    intros known e n Hup H; destruct n; cbn [placed] in H; try contradiction; cbn [ordered].
  - exact I.
  - destruct children; [exact I | contradiction].
  - split; [intros; eapply IH; eauto|].
    intros v w Hv Hcv Hw Hcw Hlt a b Ha Hb. apply HR.
    apply (starts_with_before (known ++ cs) v w); [exact Hlt | |]; rewrite <- app_assoc;
      eapply placed_start; eauto.
  - revert children H. induction IH as [|[cs s] l Hs _ IHl]; intros [|n ns] H; try contradiction; [exact I|].
    destruct H as [H1 H2]. cbn [increasing] in Hup. apply andb_prop in Hup as [Hup Hrest].
    apply andb_prop in Hup as [Hown Hlater]. split; [eapply Hs; eauto | split; [|apply IHl; assumption]].
    intros a b Ha Hb. apply HR. unfold sooner. clear IHl Hs.
    pose proof (placed_start _ _ _ _ _ H1 a Ha) as Hstart.
    clear H1 Ha Hown. revert ns H2 Hb Hlater.
    clear Hrest. induction l as [|[ds s'] l IHl]; intros [|n' ns] H Hb Hlater; try contradiction.
    destruct H as [H1 H2]. cbn [forallb fst] in Hlater. apply andb_prop in Hlater as [Hnow Hlater].
    cbn [map any] in Hb. destruct Hb as [Hb | Hb]; [|eapply IHl; eauto].
    apply (clearly_before_lt known cs ds); [exact Hnow | exact Hstart|]. eapply placed_start; eauto.
  - revert children H. induction IH as [|[cs s] l Hs _ IHl]; intros [|n ns] H; try contradiction; [exact I|].
    destruct H as [H1 H2]. cbn [increasing] in Hup. apply andb_prop in Hup as [Hup Hrest].
    apply andb_prop in Hup as [Hown Hlater]. split; [eapply Hs; eauto | split; [|apply IHl; assumption]].
    intros a b Ha Hb. apply HR. unfold sooner. clear IHl Hs.
    pose proof (placed_start _ _ _ _ _ H1 a Ha) as Hstart.
    clear H1 Ha Hown. revert ns H2 Hb Hlater.
    clear Hrest. induction l as [|[ds s'] l IHl]; intros [|n' ns] H Hb Hlater; try contradiction.
    destruct H as [H1 H2]. cbn [forallb fst] in Hlater. apply andb_prop in Hlater as [Hnow Hlater].
    cbn [map any] in Hb. destruct Hb as [Hb | Hb]; [|eapply IHl; eauto].
    apply (clearly_before_lt known (map (place_value e) cs) (map (place_value e) ds));
      [apply offset_before_values, Hnow | exact Hstart|]. eapply placed_start; eauto.
  - destruct H as [Ha Hb]. apply andb_prop in Hup as [H1 H2]. split; intros; eauto.
  - eapply IH; eauto.
  - eapply IH; eauto.
Qed.
