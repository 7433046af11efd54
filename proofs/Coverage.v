(** * Every instance is run: the way to its call

    For an arbitrary instance of a statement there are some paths to calls, with
    the iterations as expressions over the arguments of the instance and the
    parameters.  That none of them leads to the instance must be impossible. *)

From Coq Require Import ZArith List String Bool Lia.
From Loopwright Require Import Loop Lexicographic Poly Formulas Reduction Linear Symbolic Specification Conditions.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

(** ** The way to a call *)

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

(** ** Ways as they are proposed *)

(** A [step], its iteration as an expression. *)
Inductive turn := ToChild (k : nat) | ToIteration (a : expr) | ToYes | ToNo | ToInside.

(** Paths, one of which leads to each instance; none where there are no instances. *)
Definition cover := list (list turn).

Definition taken (e : env) (u : turn) : step :=
  match u with
  | ToChild k => Child k
  | ToIteration a => Iterate (eval e a)
  | ToYes => Yes
  | ToNo => No
  | ToInside => Enter
  end.

(** The two vectors differ. *)
Fixpoint apart (a b : list lin) : fact :=
  match a, b with
  | [], [] => never
  | x :: a', y :: b' => either [differ x y; apart a' b']
  | _, _ => always
  end.

Lemma apart_true : forall v a b x y, denote_all v a x -> denote_all v b y -> ~ agree x y -> true_at v (apart a b).
Proof.
  intros v a b x y Ha. revert b y. induction Ha as [|l p a x Hl _ IH]; intros b y Hb H;
    destruct Hb as [|m q b y Hm Hb]; try exact I; cbn [apart agree] in *; [tauto|].
  apply either_true. destruct (Z.eq_dec p q) as [Heq | Hne]; [right; left | left; exact (differ_true _ _ _ _ _ Hl Hm Hne)].
  apply (IH b y Hb). tauto.
Qed.

Lemma agree_dec : forall x y, agree x y \/ ~ agree x y.
Proof.
  induction x as [|a x IH]; intros [|b y]; cbn [agree]; try tauto.
  destruct (Z.eq_dec a b); [destruct (IH y)|]; tauto.
Qed.

(** The iterator [x] is not the start [a] or a whole number of steps after it.
    Distances that differ by a number share their quotient. *)
Definition off_stride (c : scope) (a : expr) (x : lin) (d : positive) (s : state) : fact * state :=
  if Pos.eqb d 1 then start_below false c x a s
  else let (first, s1) := linear c a s in
       let distance := minus x first in
       let (q, s2) := quotient (0, snd distance) d s1 in
       let steps := plus (number (- (- fst distance / Z.pos d))) q in
       (either [less steps (number 0); differ distance (times (Z.pos d) steps)], s2).

Lemma off_stride_models : forall c e a x z d v s f s',
  off_stride c a x d s = (f, s') -> agrees e c v -> models v s -> denotes v x z ->
  exists w, models (v ++ w) s' /\ (strided (eval e a) d z \/ true_at (v ++ w) f).
Proof.
  intros c e a x z d v s f s' H Hc Hm Hx. unfold off_stride in H. destruct (Pos.eqb_spec d 1) as [-> | _].
  { destruct (start_below_models _ _ _ _ _ _ _ _ _ _ H Hc Hm Hx) as (w & Hm1 & Hf). exists w. split; [exact Hm1|].
    cbn [strided]. destruct (Z.leb_spec (eval e a) z) as [Hle | Hgt]; [left; exact Hle | right; auto]. }
  destruct (linear c a s) as [first s1] eqn:E1. set (distance := minus x first) in *.
  destruct (quotient (0, snd distance) d s1) as [q s2] eqn:E2.
  set (steps := plus (number (- (- fst distance / Z.pos d))) q) in *. injection H as <- <-.
  destruct (linear_models _ _ _ _ _ _ _ E1 Hc Hm) as (w1 & Hm1 & Hfirst).
  pose proof (denotes_minus _ _ _ _ _ (denotes_more _ w1 _ _ Hx) Hfirst) as Hdistance. fold distance in Hdistance.
  assert (Hbase : denotes (v ++ w1) (0, snd distance) (value (v ++ w1) (0, snd distance))).
  { split; [exact (proj1 Hdistance) | reflexivity]. }
  destruct (quotient_models _ _ _ _ _ _ _ E2 Hm1 Hbase) as (w2 & Hm2 & Hq).
  pose proof (denotes_plus _ _ _ _ _ (denotes_number _ (- (- fst distance / Z.pos d))) Hq) as Hsteps. fold steps in Hsteps.
  set (m := _ + _) in Hsteps. exists (w1 ++ w2). rewrite app_assoc. split; [exact Hm2|].
  destruct (Z_lt_le_dec m 0) as [Hlt | Hle].
  { right. apply either_true. left. exact (less_true _ _ _ _ _ Hsteps (denotes_number _ 0) Hlt). }
  destruct (Z.eq_dec (z - eval e a) (Z.pos d * m)) as [Heq | Hne].
  - left. apply strided_steps. exists m. lia.
  - right. apply either_true. right. left.
    exact (differ_true _ _ _ _ _ (denotes_more _ w2 _ _ Hdistance) (denotes_times _ _ _ _ Hsteps) Hne).
Qed.

(** What would have to be so for the path not to lead to the instance [f xs ys];
    [i] is the scope of the instance, [c] that of the program. *)
Fixpoint astray (path : list turn) (i c : scope) (s : state) (n : node) (f : string) (xs ys : list lin)
    : option (list fact * state) :=
  match path, n with
  | [], Call g args hint =>
      if String.eqb f g
      then let (l, s1) := linear_list c args s in let (m, s2) := linear_list c hint s1 in
           Some ([apart xs l; apart ys m], s2)
      else None
  | ToChild k :: path', Block cs =>
      match nth_error cs k with
      | Some n' => astray path' i c s n' f xs ys
      | None => None
      end
  | ToIteration a :: path', For x b t d n' =>
      let (v, s1) := linear i a s in
      let (off, s3) := off_stride c b v d s1 in
      let (no, s4) := known ((x, v) :: c) false t s3 in
      match astray path' i ((x, v) :: c) s4 n' f xs ys with
      | Some (fs, s5) => Some (off :: no :: fs, s5)
      | None => None
      end
  | ToYes :: path', If t a _ =>
      let (no, s1) := known c false t s in
      match astray path' i c s1 a f xs ys with
      | Some (fs, s2) => Some (no :: fs, s2)
      | None => None
      end
  | ToNo :: path', If t _ b =>
      let (yes, s1) := known c true t s in
      match astray path' i c s1 b f xs ys with
      | Some (fs, s2) => Some (yes :: fs, s2)
      | None => None
      end
  | ToInside :: path', Let x a b =>
      let (m, s1) := linear c a s in astray path' i ((x, m) :: c) s1 b f xs ys
  | ToInside :: path', Mark _ b => astray path' i c s b f xs ys
  | _, _ => None
  end.

Lemma astray_sound : forall path i c s n f xs ys fs s' ie e v x y,
  astray path i c s n f xs ys = Some (fs, s') ->
  agrees ie i v -> agrees e c v -> models v s -> denote_all v xs x -> denote_all v ys y ->
  exists w, models (v ++ w) s' /\
    (Exists (true_at (v ++ w)) fs \/ leads (map (taken ie) path) e n (Event f x y)).
Proof.
  induction path as [|u path IH]; intros i c s n f xs ys fs s' ie e v x y H Hi Hc Hm Hx Hy.
  { destruct n; try discriminate. cbn [astray] in H. destruct (String.eqb_spec f name) as [-> | _]; [|discriminate].
    destruct (linear_list c arguments s) as [l s1] eqn:E1. destruct (linear_list c hint s1) as [m s2] eqn:E2.
    injection H as <- <-.
    destruct (linear_list_models _ _ _ _ _ _ _ E1 Hc Hm) as (w1 & Hm1 & Hl).
    destruct (linear_list_models _ _ _ _ _ _ _ E2 (agrees_more _ _ _ w1 Hc) Hm1) as (w2 & Hm2 & Hh).
    exists (w1 ++ w2). rewrite app_assoc. split; [exact Hm2|]. cbn [map leads name_of arguments_of hint_of].
    rewrite String.eqb_refl.
    destruct (agree_dec x (map (eval e) arguments)) as [H1 | H1].
    - destruct (agree_dec y (map (eval e) hint)) as [H2 | H2]; [right; auto|].
      left. right. left. refine (apart_true _ _ _ _ _ _ Hh H2). do 2 apply denote_all_more. exact Hy.
    - left. left. refine (apart_true _ _ _ _ _ _ (denote_all_more _ _ _ _ Hl) H1). do 2 apply denote_all_more. exact Hx. }
  destruct u as [k|a| | |]; destruct n as [? ? ?|cs|t a' b'|z b t d n'|z b n'|text n']; try discriminate; cbn [astray] in H.
  - destruct (nth_error cs k) as [n'|] eqn:Hk; [|discriminate].
    destruct (IH _ _ _ _ _ _ _ _ _ _ _ _ _ _ H Hi Hc Hm Hx Hy) as (w & Hm1 & Hor). exists w. split; [exact Hm1|].
    cbn [map taken leads]. rewrite Hk. exact Hor.
  - destruct (linear i a s) as [lv s1] eqn:E1. destruct (off_stride c b lv d s1) as [off s3] eqn:E3.
    destruct (known ((z, lv) :: c) false t s3) as [no s4] eqn:E4.
    destruct (astray path i ((z, lv) :: c) s4 n' f xs ys) as [[fs' s5]|] eqn:E5; [|discriminate]. injection H as <- <-.
    destruct (linear_models _ _ _ _ _ _ _ E1 Hi Hm) as (w1 & Hm1 & Hv).
    destruct (off_stride_models _ _ _ _ _ _ _ _ _ _ E3 (agrees_more _ _ _ w1 Hc) Hm1 Hv) as (w3 & Hm3 & Hoff).
    pose proof (denotes_more _ w3 _ _ Hv) as Hv3.
    assert (Hc3 : agrees ((z, eval ie a) :: e) ((z, lv) :: c) ((v ++ w1) ++ w3)).
    { apply agrees_cons; [do 2 apply agrees_more; exact Hc | exact Hv3]. }
    destruct (known_models _ _ _ _ _ _ _ _ E4 Hc3 Hm3) as (w4 & Hm4 & Hno).
    assert (Hi4 : agrees ie i (((v ++ w1) ++ w3) ++ w4)) by (do 3 apply agrees_more; exact Hi).
    assert (Hx4 : denote_all (((v ++ w1) ++ w3) ++ w4) xs x) by (do 3 apply denote_all_more; exact Hx).
    assert (Hy4 : denote_all (((v ++ w1) ++ w3) ++ w4) ys y) by (do 3 apply denote_all_more; exact Hy).
    destruct (IH _ _ _ _ _ _ _ _ _ _ _ _ _ _ E5 Hi4 (agrees_more _ _ _ w4 Hc3) Hm4 Hx4 Hy4) as (w5 & Hm5 & Hor).
    exists (w1 ++ w3 ++ w4 ++ w5). rewrite !app_assoc. split; [exact Hm5|].
    cbn [map taken leads].
    destruct Hoff as [Hstrided | Hoff]; [|left; left; do 2 apply true_at_more; exact Hoff].
    destruct (decide ((z, eval ie a) :: e) t) eqn:Ht.
    2: { left. right. left. apply true_at_more, Hno. reflexivity. }
    destruct Hor as [Hor | Hleads]; [left; do 2 right; exact Hor|]. right.
    split; [exact Hstrided | split; [apply decide_holds, Ht | exact Hleads]].
  - destruct (known c false t s) as [no s1] eqn:E1.
    destruct (astray path i c s1 a' f xs ys) as [[fs' s2]|] eqn:E2; [|discriminate]. injection H as <- <-.
    destruct (known_models _ _ _ _ _ _ _ _ E1 Hc Hm) as (w1 & Hm1 & Hno).
    destruct (IH _ _ _ _ _ _ _ _ _ _ _ _ _ _ E2 (agrees_more _ _ _ w1 Hi) (agrees_more _ _ _ w1 Hc) Hm1
      (denote_all_more _ w1 _ _ Hx) (denote_all_more _ w1 _ _ Hy)) as (w2 & Hm2 & Hor).
    exists (w1 ++ w2). rewrite app_assoc. split; [exact Hm2|]. cbn [map taken leads].
    destruct (decide e t) eqn:Ht; [|left; left; apply true_at_more, Hno; reflexivity].
    destruct Hor as [Hor | Hleads]; [left; right; exact Hor | right; split; [apply decide_holds, Ht | exact Hleads]].
  - destruct (known c true t s) as [yes s1] eqn:E1.
    destruct (astray path i c s1 b' f xs ys) as [[fs' s2]|] eqn:E2; [|discriminate]. injection H as <- <-.
    destruct (known_models _ _ _ _ _ _ _ _ E1 Hc Hm) as (w1 & Hm1 & Hyes).
    destruct (IH _ _ _ _ _ _ _ _ _ _ _ _ _ _ E2 (agrees_more _ _ _ w1 Hi) (agrees_more _ _ _ w1 Hc) Hm1
      (denote_all_more _ w1 _ _ Hx) (denote_all_more _ w1 _ _ Hy)) as (w2 & Hm2 & Hor).
    exists (w1 ++ w2). rewrite app_assoc. split; [exact Hm2|]. cbn [map taken leads].
    destruct (decide e t) eqn:Ht; [left; left; apply true_at_more, Hyes; reflexivity|].
    destruct Hor as [Hor | Hleads]; [left; right; exact Hor | right; split; [apply decide_fails, Ht | exact Hleads]].
  - destruct (linear c b s) as [m s1] eqn:E1.
    destruct (linear_models _ _ _ _ _ _ _ E1 Hc Hm) as (w1 & Hm1 & Hd).
    destruct (IH _ _ _ _ _ _ _ _ _ _ _ _ _ _ H (agrees_more _ _ _ w1 Hi)
      (agrees_cons _ _ _ z _ _ (agrees_more _ _ _ w1 Hc) Hd) Hm1
      (denote_all_more _ w1 _ _ Hx) (denote_all_more _ w1 _ _ Hy)) as (w2 & Hm2 & Hor).
    exists (w1 ++ w2). rewrite app_assoc. split; [exact Hm2 | exact Hor].
  - exact (IH _ _ _ _ _ _ _ _ _ _ _ _ _ _ H Hi Hc Hm Hx Hy).
Qed.

(** No path leads there. *)
Fixpoint all_astray (k : cover) (i c : scope) (s : state) (n : node) (f : string) (xs ys : list lin)
    : option (list fact * state) :=
  match k with
  | [] => Some ([], s)
  | path :: k' =>
      match astray path i c s n f xs ys with
      | Some (fs, s1) =>
          match all_astray k' i c s1 n f xs ys with
          | Some (gs, s2) => Some (either fs :: gs, s2)
          | None => None
          end
      | None => None
      end
  end.

Lemma all_astray_sound : forall k i c s n f xs ys gs s' ie e v x y,
  all_astray k i c s n f xs ys = Some (gs, s') ->
  agrees ie i v -> agrees e c v -> models v s -> denote_all v xs x -> denote_all v ys y ->
  exists w, models (v ++ w) s' /\ (Forall (true_at (v ++ w)) gs \/ reached e n (Event f x y)).
Proof.
  induction k as [|path k IH]; intros i c s n f xs ys gs s' ie e v x y H Hi Hc Hm Hx Hy; cbn [all_astray] in H.
  - injection H as <- <-. exists []. rewrite app_nil_r. split; [exact Hm | left; constructor].
  - destruct (astray path i c s n f xs ys) as [[fs s1]|] eqn:E1; [|discriminate].
    destruct (all_astray k i c s1 n f xs ys) as [[hs s2]|] eqn:E2; [|discriminate]. injection H as <- <-.
    destruct (astray_sound _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ E1 Hi Hc Hm Hx Hy) as (w1 & Hm1 & Hor1).
    destruct (IH _ _ _ _ _ _ _ _ _ _ _ _ _ _ E2 (agrees_more _ _ _ w1 Hi) (agrees_more _ _ _ w1 Hc) Hm1
      (denote_all_more _ w1 _ _ Hx) (denote_all_more _ w1 _ _ Hy)) as (w2 & Hm2 & Hor2).
    exists (w1 ++ w2). rewrite app_assoc. split; [exact Hm2|].
    destruct Hor1 as [Hsome | Hleads]; [|right; exact (leads_reached _ _ _ _ Hleads)].
    destruct Hor2 as [Hall | Hreached]; [left | right; exact Hreached].
    constructor; [apply true_at_more, either_true, Hsome | exact Hall].
Qed.

Definition cover_goals (k : cover) (i c : scope) (s : state) (n : node) (f : string) (xs ys : list lin) : list goal :=
  match all_astray k i c s n f xs ys with
  | Some (gs, s') => [exclude (both gs) s']
  | None => unfit
  end.

Lemma cover_sound : forall k i c s n f xs ys ie e v x y,
  Forall refuted (cover_goals k i c s n f xs ys) ->
  agrees ie i v -> agrees e c v -> models v s -> denote_all v xs x -> denote_all v ys y ->
  reached e n (Event f x y).
Proof.
  intros k i c s n f xs ys ie e v x y H Hi Hc Hm Hx Hy. unfold cover_goals in H.
  destruct (all_astray k i c s n f xs ys) as [[gs s']|] eqn:E; [|destruct (unfit_false H)].
  inversion H as [|? ? Hgoal _]; subst.
  destruct (all_astray_sound _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ E Hi Hc Hm Hx Hy) as (w & Hm1 & [Hall | Hreached]);
    [|exact Hreached].
  destruct (refuted_state _ _ _ Hgoal Hm1 (both_true _ _ Hall)).
Qed.

(** ** All statements *)

(** As many new variables as there are names. *)
Fixpoint fresh_list (names : list string) (s : state) : list lin * state :=
  match names with
  | [] => ([], s)
  | _ :: names' => let (l, s1) := fresh s in let (ls, s2) := fresh_list names' s1 in (l :: ls, s2)
  end.

Lemma fresh_list_models : forall names s ls s' v zs, fresh_list names s = (ls, s') -> models v s ->
  List.length zs = List.length names ->
  exists w, models (v ++ w) s' /\ denote_all (v ++ w) ls zs.
Proof.
  induction names as [|x names IH]; intros s ls s' v [|z zs] H Hm Hlen; try discriminate; cbn [fresh_list] in H.
  - injection H as <- <-. exists []. rewrite app_nil_r. split; [exact Hm | constructor].
  - destruct (fresh s) as [l s1] eqn:E1. destruct (fresh_list names s1) as [ls' s2] eqn:E2. injection H as <- <-.
    destruct (fresh_models _ _ z _ _ E1 Hm) as [Hm1 Hl]. cbn [List.length] in Hlen.
    destruct (IH _ _ _ _ zs E2 Hm1 ltac:(lia)) as (w & Hm2 & Hls).
    exists ([z] ++ w). rewrite app_assoc. split; [exact Hm2|]. constructor; [apply denotes_more, Hl | exact Hls].
Qed.

(** An instance of [h] somewhere, with its scope. *)
Definition some_instance (h : shape) (sizes_scope : scope) (s : state) : list lin * list lin * scope * state :=
  let (xs, s1) := fresh_list (shape_arguments h) s in
  let (ys, s2) := fresh_list (shape_hints h) s1 in
  let i := combine (shape_arguments h) xs ++ combine (shape_hints h) ys ++ sizes_scope in
  let (inside, s3) := known i true (shape_domain h) s2 in
  (xs, ys, i, assume inside s3).

Lemma some_instance_models : forall h sizes_scope s xs ys i s' e v x y,
  some_instance h sizes_scope s = (xs, ys, i, s') -> models v s -> agrees e sizes_scope v ->
  List.length x = List.length (shape_arguments h) -> List.length y = List.length (shape_hints h) ->
  decide (instance e h x y) (shape_domain h) = true ->
  exists w, models (v ++ w) s' /\ denote_all (v ++ w) xs x /\ denote_all (v ++ w) ys y /\
    agrees (instance e h x y) i (v ++ w).
Proof.
  intros h sizes_scope s xs ys i s' e v x y H Hm Hp Hlx Hly Hd. unfold some_instance in H.
  destruct (fresh_list (shape_arguments h) s) as [xs0 s1] eqn:E1.
  destruct (fresh_list (shape_hints h) s1) as [ys0 s2] eqn:E2.
  destruct (known _ true (shape_domain h) s2) as [inside s3] eqn:E3. injection H as <- <- <- <-.
  destruct (fresh_list_models _ _ _ _ _ x E1 Hm Hlx) as (w1 & Hm1 & Hx).
  destruct (fresh_list_models _ _ _ _ _ y E2 Hm1 Hly) as (w2 & Hm2 & Hy).
  pose proof (denote_all_more _ w2 _ _ Hx) as Hx2.
  assert (Hi : agrees (instance e h x y) (combine (shape_arguments h) xs0 ++ combine (shape_hints h) ys0 ++ sizes_scope)
                 ((v ++ w1) ++ w2)).
  { unfold instance. apply agrees_app; [apply agrees_combine, Hx2|].
    apply agrees_app; [apply agrees_combine, Hy | do 2 apply agrees_more; exact Hp]. }
  destruct (known_models _ _ _ _ _ _ _ _ E3 Hi Hm2) as (w3 & Hm3 & Hf).
  exists (w1 ++ w2 ++ w3). rewrite (app_assoc v w1 (w2 ++ w3)), (app_assoc (v ++ w1) w2 w3).
  split; [exact (assume_models _ _ _ Hm3 (Hf Hd)) | split; [|split]];
    [apply denote_all_more, Hx2 | apply denote_all_more, Hy | apply agrees_more, Hi].
Qed.

Definition shape_goals (sizes_scope : scope) (s : state) (n : node) (h : shape) (k : cover) : list goal :=
  let '(xs, ys, i, s') := some_instance h sizes_scope s in
  cover_goals k i sizes_scope s' n (shape_name h) xs ys.

Fixpoint covers_goals (sizes_scope : scope) (s : state) (n : node) (hs : list shape) (ks : list cover) : list goal :=
  match hs, ks with
  | [], [] => []
  | h :: hs', k :: ks' => shape_goals sizes_scope s n h k ++ covers_goals sizes_scope s n hs' ks'
  | _, _ => unfit
  end.

Theorem covers_sound : forall hs sizes_scope s n ks e v,
  Forall refuted (covers_goals sizes_scope s n hs ks) -> models v s -> agrees e sizes_scope v ->
  forall ev, scheduled (poly_of hs e) ev -> reached e n ev.
Proof.
  intros hs sizes_scope s n ks e v H Hm Hp [f x y] Hev. apply scheduled_instance in Hev.
  cbn [name_of arguments_of hint_of] in Hev. unfold has_instance in Hev.
  destruct (find_shape hs f (List.length x) (List.length y)) as [h|] eqn:Hh; [|contradiction].
  apply find_shape_known in Hh as (Hin & <- & Hlx & Hly). revert ks H.
  induction hs as [|h' hs IH]; intros [|k ks] H; cbn [covers_goals] in H; try (destruct (unfit_false H)); [destruct Hin|].
  apply Forall_app in H as [H1 H2]. destruct Hin as [-> | Hin]; [|exact (IH Hin ks H2)].
  unfold shape_goals in H1. destruct (some_instance h sizes_scope s) as [[[xs ys] i] s'] eqn:E.
  destruct (some_instance_models _ _ _ _ _ _ _ _ _ x y E Hm Hp ltac:(lia) ltac:(lia) Hev) as (w & Hm1 & Hx & Hy & Hi).
  exact (cover_sound _ _ _ _ _ _ _ _ _ _ _ _ _ H1 Hi (agrees_more _ _ _ w Hp) Hm1 Hx Hy).
Qed.
