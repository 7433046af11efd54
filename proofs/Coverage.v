(** * Every instance is run: the way to its call

    For an arbitrary instance of a statement, a tree of cases says which call
    runs it, and in which iterations: expressions over the arguments of the
    instance and the parameters. *)

From Coq Require Import ZArith List String Bool Lia.
From Loopwright Require Import Loop Lexicographic Poly Formulas Reduction Ordering Walking Linear Symbolic Specification Conditions.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

(** [step] of [Walking.v], its iterations as expressions. *)
Inductive turn := ToChild (k : nat) | ToIteration (a : expr) | ToYes | ToNo | ToInside.

Inductive cover :=
| CoverCases (t : test) (yes no : cover)
| CoveredBy (path : list turn)
| NotThere.                       (* there is no such instance *)

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
      let (v, s1) := linear i a s in let (first, s2) := linear c b s1 in
      let distance := minus v first in
      let (q, s3) := quotient distance d s2 in
      let (no, s4) := known ((x, v) :: c) false t s3 in
      match astray path' i ((x, v) :: c) s4 n' f xs ys with
      | Some (fs, s5) => Some (less v first :: differ distance (times (Z.pos d) q) :: no :: fs, s5)
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

Lemma strided_by_quotient : forall a d z, a <= z -> z - a = Z.pos d * ((z - a) / Z.pos d) -> strided a d z.
Proof.
  intros a d z Hle H. apply strided_steps. exists ((z - a) / Z.pos d). split; [apply Z.div_pos; lia | lia].
Qed.

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
  - destruct (linear i a s) as [lv s1] eqn:E1. destruct (linear c b s1) as [first s2] eqn:E2.
    destruct (quotient (minus lv first) d s2) as [q s3] eqn:E3.
    destruct (known ((z, lv) :: c) false t s3) as [no s4] eqn:E4.
    destruct (astray path i ((z, lv) :: c) s4 n' f xs ys) as [[fs' s5]|] eqn:E5; [|discriminate]. injection H as <- <-.
    destruct (linear_models _ _ _ _ _ _ _ E1 Hi Hm) as (w1 & Hm1 & Hv).
    destruct (linear_models _ _ _ _ _ _ _ E2 (agrees_more _ _ _ w1 Hc) Hm1) as (w2 & Hm2 & Hfirst).
    pose proof (denotes_more _ w2 _ _ Hv) as Hv2.
    destruct (quotient_models _ _ _ _ _ _ _ E3 Hm2 (denotes_minus _ _ _ _ _ Hv2 Hfirst)) as (w3 & Hm3 & Hq).
    pose proof (denotes_more _ w3 _ _ Hv2) as Hv3. pose proof (denotes_more _ w3 _ _ Hfirst) as Hfirst3.
    assert (Hc3 : agrees ((z, eval ie a) :: e) ((z, lv) :: c) (((v ++ w1) ++ w2) ++ w3)).
    { apply agrees_cons; [do 3 apply agrees_more; exact Hc | exact Hv3]. }
    destruct (known_models _ _ _ _ _ _ _ _ E4 Hc3 Hm3) as (w4 & Hm4 & Hno).
    assert (Hi4 : agrees ie i ((((v ++ w1) ++ w2) ++ w3) ++ w4)) by (do 4 apply agrees_more; exact Hi).
    assert (Hx4 : denote_all ((((v ++ w1) ++ w2) ++ w3) ++ w4) xs x) by (do 4 apply denote_all_more; exact Hx).
    assert (Hy4 : denote_all ((((v ++ w1) ++ w2) ++ w3) ++ w4) ys y) by (do 4 apply denote_all_more; exact Hy).
    destruct (IH _ _ _ _ _ _ _ _ _ _ _ _ _ _ E5 Hi4 (agrees_more _ _ _ w4 Hc3) Hm4 Hx4 Hy4) as (w5 & Hm5 & Hor).
    exists (w1 ++ w2 ++ w3 ++ w4 ++ w5). rewrite !app_assoc. split; [exact Hm5|].
    cbn [map taken leads].
    destruct (Z_lt_le_dec (eval ie a) (eval e b)) as [Hlt | Hle].
    { left. left. exact (less_true _ _ _ _ _ (denotes_more _ _ _ _ (denotes_more _ w4 _ _ Hv3))
        (denotes_more _ _ _ _ (denotes_more _ w4 _ _ Hfirst3)) Hlt). }
    destruct (Z.eq_dec (eval ie a - eval e b) (Z.pos d * ((eval ie a - eval e b) / Z.pos d))) as [Heq | Hne].
    2: { left. right. left. do 2 apply true_at_more.
         exact (differ_true _ _ _ _ _ (denotes_minus _ _ _ _ _ Hv3 Hfirst3) (denotes_times _ _ _ _ Hq) Hne). }
    destruct (decide ((z, eval ie a) :: e) t) eqn:Ht.
    2: { left. right. right. left. apply true_at_more, Hno. reflexivity. }
    destruct Hor as [Hor | Hleads]; [left; do 3 right; exact Hor|]. right.
    split; [exact (strided_by_quotient _ _ _ Hle Heq) | split; [apply decide_holds, Ht | exact Hleads]].
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

Fixpoint cover_goals (k : cover) (i c : scope) (s : state) (n : node) (f : string) (xs ys : list lin) : list goal :=
  match k with
  | CoverCases t yes no =>
      let (g, s1) := known i true t s in let (g', s1') := known i false t s in
      cover_goals yes i c (assume g s1) n f xs ys ++ cover_goals no i c (assume g' s1') n f xs ys
  | CoveredBy path =>
      match astray path i c s n f xs ys with
      | Some (fs, s') => [exclude (either fs) s']
      | None => unfit
      end
  | NotThere => [facts s]
  end.

Lemma cover_sound : forall k i c s n f xs ys ie e v x y,
  Forall refuted (cover_goals k i c s n f xs ys) ->
  agrees ie i v -> agrees e c v -> models v s -> denote_all v xs x -> denote_all v ys y ->
  reached e n (Event f x y).
Proof.
  induction k as [t yes IHyes no IHno|path|]; intros i c s n f xs ys ie e v x y H Hi Hc Hm Hx Hy; cbn [cover_goals] in H.
  - destruct (known i true t s) as [g s1] eqn:E1. destruct (known i false t s) as [g' s1'] eqn:E1'.
    apply Forall_app in H as [H1 H2]. destruct (decide ie t) eqn:Ht.
    + destruct (known_models _ _ _ _ _ _ _ _ E1 Hi Hm) as (w & Hm1 & Hg).
      exact (IHyes _ _ _ _ _ _ _ _ _ _ _ _ H1 (agrees_more _ _ _ w Hi) (agrees_more _ _ _ w Hc)
        (assume_models _ _ _ Hm1 (Hg Ht)) (denote_all_more _ w _ _ Hx) (denote_all_more _ w _ _ Hy)).
    + destruct (known_models _ _ _ _ _ _ _ _ E1' Hi Hm) as (w & Hm1 & Hg).
      exact (IHno _ _ _ _ _ _ _ _ _ _ _ _ H2 (agrees_more _ _ _ w Hi) (agrees_more _ _ _ w Hc)
        (assume_models _ _ _ Hm1 (Hg Ht)) (denote_all_more _ w _ _ Hx) (denote_all_more _ w _ _ Hy)).
  - destruct (astray path i c s n f xs ys) as [[fs s']|] eqn:E; [|destruct (unfit_false H)].
    inversion H as [|? ? Hgoal _]; subst.
    destruct (astray_sound _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ E Hi Hc Hm Hx Hy) as (w & Hm1 & [Hsome | Hleads]).
    + destruct (refuted_state _ _ _ Hgoal Hm1 (either_true _ _ Hsome)).
    + exact (leads_reached _ _ _ _ Hleads).
  - inversion H as [|? ? Hgoal _]; subst. destruct (Hgoal v). apply Hm.
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
