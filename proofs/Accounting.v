(** * What the statements of a text touch

    The checks are told what statements read and write.  Here that is compared
    with the words of a text: an array that the words assign to is written, one
    that they name is read, in the cells that its subscripts say.  What nothing
    in the text writes may be read unsaid.

    Words that hide an access are not looked through: pointers that are followed,
    members, quotations; and subscripts that are no affine expression of the
    arguments.  Of a statement with such words it stays told what it touches;
    [as_told] lists these, and those that call more than functions of numbers.
    Other macros are taken to touch what is said. *)

From Coq Require Import ZArith List String Ascii Bool Lia.
From Loopwright Require Import Loop Counting Parser Matching Specification Changes.
Import ListNotations.
Open Scope string_scope.
Open Scope list_scope.
Open Scope Z_scope.

(** ** Words *)

Inductive touch := Reads | Writes | Updates (sign : string).

(** A name, what stands in brackets after it where that can be read, and what is done there. *)
Record mention := Mention { mentioned : string; subscripted : option (list expr); touching : touch }.

Definition among (l : list string) (s : string) : bool := existsb (String.eqb s) l.
Definition steps : list string := ["++"; "--"].
Definition compound : list string := ["+="; "-="; "*="; "/="; "%="; "&="; "|="; "^="; "min="; "max="].
Definition shifts : list string := ["<<"; ">>"].

(** What follows the bracket that closes. *)
Fixpoint closing (depth : nat) (ts : list token) : list token :=
  match ts with
  | [] => []
  | Sign s :: ts' =>
      if String.eqb s "[" then closing (S depth) ts'
      else if String.eqb s "]" then match depth with O => ts' | S d => closing d ts' end
      else closing depth ts'
  | _ :: ts' => closing depth ts'
  end.

(** All brackets that follow, and what follows them. *)
Fixpoint brackets (fuel : nat) (ts : list token) : option (list expr) * list token :=
  match fuel, ts with
  | S fuel', Sign s :: ts' =>
      if String.eqb s "[" then
        let (l, rest) := brackets fuel' (closing 0 ts') in
        (match expression fuel ts', l with
         | Some (a, Sign s' :: _), Some l => if String.eqb s' "]" then Some (value_of a :: l) else None
         | _, _ => None
         end, rest)
      else (Some [], ts)
  | _, _ => (Some [], ts)
  end.

Definition touch_of (before : option token) (after : list token) : touch :=
  let step := match before with Some (Sign s) => among steps s | _ => false end in
  if step then Updates "++" else
  match after with
  | Sign s :: rest =>
      if String.eqb s "=" then Writes
      else if among steps s || among compound s then Updates s
      else if among shifts s then match rest with Sign s' :: _ => if String.eqb s' "=" then Updates s else Reads | _ => Reads end
      else Reads
  | _ => Reads
  end.

(** A word that hides no access, between these. *)
Definition is_plain (before : option token) (t : token) (after : list token) : bool :=
  let named := match before with Some (Word _) => true | Some (Sign s) => String.eqb s "]" | _ => false end in
  let operand := named || match before with Some (Number _ _ | Unread _) => true | Some (Sign s) => String.eqb s ")" | _ => false end in
  match t with
  | Unread s => negb (among [String "034" ""; "'"; "\"] s)
  | Directive _ => false
  | Sign s =>
      if among ["*"; "&"] s then operand
      else if String.eqb s "->" then false
      else if String.eqb s "<" then match after with Sign s' :: _ => negb (among [":"; "%"] s') | _ => true end   (* digraphs *)
      else if String.eqb s "." then match after with (Number _ _ | Unread _) :: _ => true | _ => false end
      else if String.eqb s "[" || among compound s then named
      else if String.eqb s "=" then named || match before with Some (Sign s') => among shifts s' | _ => false end
      else if among steps s then named || match after with Word _ :: _ => true | _ => false end
      else true
  | _ => true
  end.

(** The names that are used, but for those of functions. *)
Fixpoint mentions_of (fuel : nat) (before : option token) (ts : list token) : option (list mention) :=
  match ts with
  | [] => Some []
  | t :: ts' =>
      match mentions_of fuel (Some t) ts' with
      | Some l =>
          if is_plain before t ts' then
            match t, ts' with
            | Word x, Sign s :: _ =>
                if String.eqb s "(" then Some l
                else let (subs, after) := brackets fuel ts' in Some (Mention x subs (touch_of before after) :: l)
            | Word x, _ => Some (Mention x (Some []) (touch_of before ts') :: l)
            | _, _ => Some l
            end
          else None
      | None => None
      end
  end.

(** ** Steps of reductions *)

Definition operator_in (sign : string) : string :=
  if among ["+="; "-="; "++"; "--"] sign then "+"
  else if String.eqb sign "min=" then "min" else if String.eqb sign "max=" then "max"
  else match sign with String c _ => String c "" | _ => "" end.

(** The signs outside of parentheses and brackets are among these. *)
Fixpoint only_signs (allowed : list string) (depth : nat) (ts : list token) : bool :=
  match ts with
  | [] => true
  | Sign s :: ts' =>
      if among ["("; "["] s then only_signs allowed (S depth) ts'
      else if among [")"; "]"] s then only_signs allowed (Nat.pred depth) ts'
      else (Nat.ltb 0 depth || among allowed s) && only_signs allowed depth ts'
  | _ :: ts' => only_signs allowed depth ts'
  end.

Fixpoint without (l ts : list token) : option (list token) :=
  match l, ts with
  | [], _ => Some ts
  | t :: l', u :: ts' => if same_token t u then without l' ts' else None
  | _, _ => None
  end.

Fixpoint until_sign (sign : string) (ts : list token) : list token * list token :=
  match ts with
  | Sign s :: ts' => if String.eqb s sign then ([], ts') else let (l, rest) := until_sign sign ts' in (Sign s :: l, rest)
  | t :: ts' => let (l, rest) := until_sign sign ts' in (t :: l, rest)
  | [] => ([], [])
  end.

Definition extremes : list (string * string) :=
  map (fun f => (f, "min")) ["min"; "MIN"; "Min"; "fmin"; "fminf"; "fminl"] ++
  map (fun f => (f, "max")) ["max"; "MAX"; "Max"; "fmax"; "fmaxf"; "fmaxl"].

(** [s = s + e] as [s += e], and so of products; [s = max(s, e)] as if that were an operator. *)
Definition in_short (ts : list token) : list token :=
  let (target, rest) := until_sign "=" ts in
  let extreme := match rest with Word f :: Sign _ :: _ => find (fun one => String.eqb f (fst one)) extremes | _ => None end in
  match extreme with
  | Some (f, k) =>
      match without ([Word f; Sign "("] ++ target ++ [Sign ","]) rest with
      | Some e =>
          match rev e with
          | Sign s :: e' => if String.eqb s ")" && only_signs ["+"; "-"; "*"; "/"; "."] 0 (rev e') then target ++ Sign (k ++ "=") :: rev e' else ts
          | _ => ts
          end
      | None => ts
      end
  | None =>
  match without target rest with
  | Some (Sign k :: e) =>
      let allowed := if among ["+"; "-"] k then ["+"; "-"; "*"; "/"; "%"; "."] else if String.eqb k "*" then ["*"; "."] else [] in
      if among allowed k && only_signs allowed 0 e then target ++ Sign (k ++ "=") :: e else ts
  | _ => ts
  end
  end.

(** The words do nothing but combine a value by the operator into the cell that is named first. *)
Definition is_step (operator : string) (ts : list token) (l : list mention) : bool :=
  match l with
  | m :: l' =>
      match touching m with
      | Updates sign =>
          String.eqb (operator_in sign) operator && negb (among ["/"; "%"; "<"; ">"] (operator_in sign)) &&
          forallb (fun m' => match touching m' with Reads => true | _ => false end) l' &&
          only_signs ["+"; "-"; "*"; "/"; "%"; "."; "?"; ":"; "<"; "<="; ">"; ">="; "=="; "!="; "&&"; "||"; "!"; "&"; "|"; "^";
                      sign] 0 ts
      | _ => false
      end
  | [] => false
  end.

(** ** Comparison *)

(** The equations that a test is made of. *)
Fixpoint equations (t : test) : list (expr * expr) :=
  match t with
  | Compare EQ a b => [(a, b)]
  | And l => flat_map equations l
  | _ => []
  end.

Definition coefficient (x : expr) (f : affine) : Z := fold_right (fun one k => if same_expr x (fst one) then snd one + k else k) 0 (snd f).

(** [f] less a multiple of [q], without the first name of [q] where that is possible. *)
Definition eliminated (q f : affine) : affine :=
  match find (fun one => negb (snd one =? 0)) (snd q) with
  | Some (x, k) => plus f (- (coefficient x f / k)) q
  | None => f
  end.

Section Statement.
  (** What the arguments of the statement stand for; where it has instances; the
      iterators of the text; those around it and the sizes, which are no memory; and what is written. *)
  Variable s : list (string * expr).
  Variable domain : test.
  Variable iterators around names written : list string.

  Definition difference (var : string -> option affine) (a b : expr) : option affine :=
    match affine_of (instead s iterators) a, affine_of var b with
    | Some f, Some g => Some (plus f (-1) g)
    | _, _ => None
    end.

  Definition zeros : list affine :=
    flat_map (fun ab => match difference (instead s iterators) (fst ab) (snd ab) with Some q => [q] | None => [] end) (equations domain).

  (** The same in all instances, for the equations of their domain. *)
  Definition equal_subscripts (told text : expr) : bool :=
    match difference itself told text with Some f => is_nothing (fold_right eliminated f zeros) | None => false end.

  Definition is_cell (subs : option (list expr)) (c : place) : bool :=
    match snd c, subs with
    | [], _ => true
    | told, Some l =>
        Nat.eqb (List.length told) (List.length l) && forallb (fun ab => equal_subscripts (fst ab) (snd ab)) (combine told l)
    | _, None => false
    end.

  Definition is_said (l : list place) (m : mention) : bool :=
    existsb (fun c => String.eqb (mentioned m) (fst c) && is_cell (subscripted m) c) l.

  (** It can be said which cells these are. *)
  Definition is_certain (m : mention) : bool :=
    let known x := if among (flat_map (fun one => match snd one with Var y => [y] | _ => [] end) s ++ names) x then itself x else None in
    match subscripted m with
    | Some l => forallb (fun a => match affine_of known a with
                                  | Some f => forallb (fun one => match fst one with Var _ => true | _ => false end) (snd f)
                                  | None => false
                                  end) l
    | None => false
    end.

  (** [Some false]: it is not said that this is touched; [None]: that cannot be seen. *)
  Definition accounts (u : use) (step : bool) (m : mention) : option bool :=
    let wrote := match touching m with Reads => true | _ => is_said (may_write u) m end in
    let read := match touching m with
                | Writes => true
                | Updates _ => step || is_said (may_read u) m
                | Reads => negb (among written (mentioned m)) || is_said (may_read u) m
                end in
    let named l := existsb (fun c : place => String.eqb (mentioned m) (fst c)) l in
    let is_number := match subscripted m with Some [] => among (around ++ names) (mentioned m) | _ => false end in
    if is_number || wrote && read then Some true
    else if is_certain m || negb wrote && negb (named (may_write u)) || negb read && negb (named (may_read u)) then Some false else None.
End Statement.

Definition fuel_of (ts : list token) : nat := 10 * List.length ts + 10.

(** What is to be said of a statement: its words, and what they mention. *)
Definition read_statement (u : use) (text : string) : option (bool * list mention) :=
  let short := match combined_by u with Some _ => in_short | None => fun ts => ts end in
  let ts := short (words text) in
  match mentions_of (fuel_of ts) None ts, combined_by u with
  | Some l, Some k => if is_step k ts l then Some (true, l) else None
  | Some l, None => Some (false, l)
  | None, _ => None
  end.

Definition written_in (uses : list (shape * use)) (olds : list told) : list string :=
  flat_map (fun hu => map fst (may_write (snd hu))) uses ++
  flat_map (fun old => match mentions_of (fuel_of (words (fst old))) None (words (fst old)) with
                       | Some l => flat_map (fun m => match touching m with Reads => [] | _ => [mentioned m] end) l
                       | None => []
                       end) olds.

(** The same of a whole statement. *)
Definition accounts_for (sizes iterators written : list string) (uses : list (shape * use)) (old : told * list string) : option bool :=
  let '(text, (name, args, _), around) := old in
  match find (fun hu => String.eqb name (shape_name (fst hu))) uses with
  | Some (h, u) =>
      match read_statement u text, shape_domain h with
      | _, Or [] => Some true   (* it is never executed *)
      | Some (step, l), _ =>
          let all := map (accounts (combine (shape_arguments h) args) (shape_domain h) iterators around sizes written u step) l in
          if existsb (fun a => match a with Some false => true | _ => false end) all then Some false
          else if existsb (fun a => match a with None => true | _ => false end) all then None else Some true
      | None, _ => None
      end
  | None => Some false
  end.

(** An array is one cell in all uses, or in none. *)
Definition uniform (uses : list (shape * use)) : bool :=
  let places := flat_map (fun hu => may_read (snd hu) ++ may_write (snd hu)) uses in
  forallb (fun c => forallb (fun d => negb (String.eqb (fst c) (fst d)) || Nat.eqb (List.length (snd c)) (List.length (snd d))) places) places.

(** ** Texts *)

Fixpoint leaves (n : counted) : list string :=
  match n with
  | Calling f _ _ => [f]
  | Sequence l => flat_map leaves l
  | Choice _ a b => leaves a ++ leaves b
  | Counting _ _ _ _ b | Naming _ _ b | Remark _ b => leaves b
  end.

Fixpoint names_in (n : counted) : list string :=
  match n with
  | Calling _ _ _ => []
  | Sequence l => flat_map names_in l
  | Choice _ a b => names_in a ++ names_in b
  | Counting x _ _ _ b | Naming x _ b => x :: names_in b
  | Remark _ b => names_in b
  end.

(** Of each of its statements, the names that are bound around it. *)
Fixpoint bound_at (around : list string) (n : counted) : list (list string) :=
  match n with
  | Calling _ _ _ => [around]
  | Sequence l => flat_map (bound_at around) l
  | Choice _ a b => bound_at around a ++ bound_at around b
  | Counting x _ _ _ b | Naming x _ b => bound_at (x :: around) b
  | Remark _ b => bound_at around b
  end.

(** The statements of a text with what each is, and whether what it touches is said. *)
Definition accounts_of (names : list string) (uses : list (shape * use)) (text : string) (calls : list (string * list expr * list expr))
    : list (string * option bool) :=
  match parse true names text with
  | Some n =>
      let olds := combine (leaves n) calls in
      let written := written_in uses olds in
      map (fun old => (fst (fst (snd (fst old))), accounts_for names (names_in n) written uses old)) (combine olds (bound_at [] n))
  | None => []
  end.

Definition accounted (names : list string) (uses : list (shape * use)) (text : string) (calls : list (string * list expr * list expr)) : bool :=
  uniform uses && forallb (fun one => match snd one with Some b => b | None => true end) (accounts_of names uses text calls).

(** The same without what is known of their instances. *)
Definition everywhere (uses : list (shape * use)) : list (shape * use) :=
  map (fun hu => let h := fst hu in (Shape (shape_name h) (shape_arguments h) (shape_hints h) (And []) (shape_time h), snd hu)) uses.

(** Functions of the standard library that compute a number from numbers. *)
Definition computing : list string :=
  ["sqrt"; "sqrtf"; "sqrtl"; "cbrt"; "cbrtf"; "cbrtl"; "hypot"; "hypotf"; "hypotl"; "fabs"; "fabsf"; "fabsl"; "exp"; "expf"; "expl"; "exp2";
   "exp2f"; "exp2l"; "expm1"; "expm1f"; "expm1l"; "log"; "logf"; "logl"; "log2"; "log2f"; "log2l"; "log10"; "log10f"; "log10l"; "log1p";
   "log1pf"; "log1pl"; "pow"; "powf"; "powl"; "sin"; "sinf"; "sinl"; "cos"; "cosf"; "cosl"; "tan"; "tanf"; "tanl"; "asin"; "asinf"; "asinl";
   "acos"; "acosf"; "acosl"; "atan"; "atanf"; "atanl"; "atan2"; "atan2f"; "atan2l"; "sinh"; "sinhf"; "sinhl"; "cosh"; "coshf"; "coshl"; "tanh";
   "tanhf"; "tanhl"; "floor"; "floorf"; "floorl"; "ceil"; "ceilf"; "ceill"; "round"; "roundf"; "roundl"; "trunc"; "truncf"; "truncl"; "fmod";
   "fmodf"; "fmodl"; "fmin"; "fminf"; "fminl"; "fmax"; "fmaxf"; "fmaxl"; "fdim"; "fdimf"; "fdiml"; "fma"; "fmaf"; "fmal"; "copysign";
   "copysignf"; "copysignl"; "abs"; "labs"; "llabs"; "min"; "max"; "MIN"; "MAX"; "Min"; "Max"; "sizeof"].

(** Something else is called, which may touch what is not seen. *)
Fixpoint calls_others (ts : list token) : bool :=
  match ts with
  | [] => false
  | Word f :: ts' =>
      match ts' with Sign s :: _ => String.eqb s "(" && negb (among computing f) | _ => false end || calls_others ts'
  | _ :: ts' => calls_others ts'
  end.

(** The statements of which it is told what they touch. *)
Definition as_told (names : list string) (uses : list (shape * use)) (text : string) (calls : list (string * list expr * list expr)) : list string :=
  match parse true names text with
  | Some n =>
      flat_map (fun one => match one with
                           | (_, (name, None)) => [name]
                           | (ws, (name, Some _)) => if calls_others (words ws) then [name] else []
                           end)
        (combine (leaves n) (accounts_of names uses text calls))
  | None => []
  end.

(** ** Soundness *)

Lemma equations_hold : forall e t, decide e t = true -> forall a b, In (a, b) (equations t) -> eval e a = eval e b.
Proof.
  intros e. fix IH 1. intros [r a b | l | l | t] H x y Hin; cbn [equations] in Hin; try contradiction.
  - destruct r; try contradiction. destruct Hin as [Hin | []]. injection Hin as <- <-. apply Z.eqb_eq, H.
  - cbn [decide] in H. induction l as [|t l IHl]; [contradiction|]. cbn [flat_map forallb] in *.
    apply andb_prop in H as [H1 H2]. apply in_app_iff in Hin as [Hin | Hin]; [exact (IH t H1 x y Hin) | exact (IHl H2 Hin)].
Qed.

Section Values.
  (** [e] has the values of the names of the text, [e0] those of an instance of the statement. *)
  Variable s : list (string * expr).
  Variable domain : test.
  Variable iterators : list string.
  Variables e e0 : env.
  Hypothesis stands : forall x f, instead s iterators x = Some f -> value e f = lookup x e0.
  Hypothesis is_instance : decide e0 domain = true.

  Lemma equal_subscripts_sound : forall a b, equal_subscripts s domain iterators a b = true -> eval e0 a = eval e b.
  Proof.
    assert (Hitself : forall x h, itself x = Some h -> value e h = lookup x e).
    { intros x h Hh. injection Hh as <-. unfold value. cbn [fst snd fold_right eval]. lia. }
    assert (Hzero : forall f, value e (fold_right eliminated f (zeros s domain iterators)) = value e f).
    { intros f. assert (H : forall q, In q (zeros s domain iterators) -> value e q = 0).
      { intros q Hq. apply in_flat_map in Hq as ([a b] & Hin & Hq). cbn [fst snd] in Hq. unfold difference in Hq.
        destruct (affine_of _ a) as [g|] eqn:Ea; [|contradiction]. destruct (affine_of _ b) as [h|] eqn:Eb; [|contradiction].
        destruct Hq as [<- | []]. rewrite value_plus, (affine_of_sound _ e e0 stands a g Ea), (affine_of_sound _ e e0 stands b h Eb).
        rewrite (equations_hold e0 domain is_instance a b Hin). lia. }
      induction (zeros s domain iterators) as [|q l IH]; [reflexivity|]. cbn [fold_right]. unfold eliminated at 1.
      destruct (find _ (snd q)) as [[x k]|]; [|apply IH; intros; apply H; right; assumption].
      rewrite value_plus, (H q (or_introl eq_refl)), IH; [lia|]. intros r Hr. apply H. right. exact Hr. }
    intros a b H. unfold equal_subscripts, difference in H.
    destruct (affine_of _ a) as [f|] eqn:Ea; [|discriminate]. destruct (affine_of itself b) as [g|] eqn:Eb; [|discriminate].
    apply (nothing_value e) in H. rewrite Hzero, value_plus in H.
    rewrite <- (affine_of_sound _ e e0 stands a f Ea), <- (affine_of_sound itself e e Hitself b g Eb). lia.
  Qed.

  (** A cell that is said to be touched is one of those that were told. *)
  Theorem said_sound : forall l m subs, is_said s domain iterators l m = true -> subscripted m = Some subs ->
    exists c, In c l /\ fst c = mentioned m /\ (snd c = [] \/ map (eval e0) (snd c) = map (eval e) subs).
  Proof.
    intros l m subs H Hm. apply existsb_exists in H as (c & Hin & Hc). exists c. split; [exact Hin|].
    apply andb_prop in Hc as [Hname Hc]. apply String.eqb_eq in Hname. split; [congruence|].
    unfold is_cell in Hc. rewrite Hm in Hc. destruct (snd c) as [|a told]; [left; reflexivity | right].
    apply andb_prop in Hc as [Hlen Hall]. apply Nat.eqb_eq in Hlen. revert Hlen Hall. clear Hm. revert subs.
    induction (a :: told) as [|x l0 IH]; intros [|y subs] Hlen Hall; try discriminate; [reflexivity|].
    cbn [combine forallb map fst snd] in *. apply andb_prop in Hall as [Hx Hrest]. f_equal.
    - exact (equal_subscripts_sound _ _ Hx).
    - apply IH; [injection Hlen as Hlen; exact Hlen | exact Hrest].
  Qed.
End Values.

(** Where a text is accounted for: a name in a statement that is read so stands for
    an iterator or a size, or what is done to it is said. *)
Theorem accounted_sound : forall sizes uses text calls n words name args hint around h u step l m,
  accounted sizes uses text calls = true -> parse true sizes text = Some n ->
  In (words, (name, args, hint), around) (combine (combine (leaves n) calls) (bound_at [] n)) ->
  find (fun hu => String.eqb name (shape_name (fst hu))) uses = Some (h, u) ->
  read_statement u words = Some (step, l) -> In m l -> shape_domain h <> Or [] ->
  let s := combine (shape_arguments h) args in
  is_certain s sizes m = true ->
  subscripted m = Some [] /\ among (around ++ sizes) (mentioned m) = true \/
  (touching m = Reads \/ is_said s (shape_domain h) (names_in n) (may_write u) m = true) /\
  (touching m = Writes \/ touching m <> Reads /\ step = true \/ is_said s (shape_domain h) (names_in n) (may_read u) m = true \/
   touching m = Reads /\ among (written_in uses (combine (leaves n) calls)) (mentioned m) = false).
Proof.
  intros sizes uses text calls n ws name args hint around h u step l m H Hn Hold Hu Hl Hm Hruns s Hsure.
  unfold accounted, accounts_of in H. rewrite Hn in H. apply andb_prop in H as [_ H]. rewrite forallb_forall in H.
  specialize (H _ (in_map _ _ _ Hold)). cbn [snd accounts_for] in H. rewrite Hu, Hl in H. fold s in H.
  assert (E : existsb (fun a => match a with Some false => true | _ => false end)
    (map (accounts s (shape_domain h) (names_in n) around sizes (written_in uses (combine (leaves n) calls)) u step) l) = false).
  { destruct (shape_domain h) as [| |[|]|]; try congruence; destruct (existsb _ (map _ l)); [discriminate | reflexivity | discriminate | reflexivity
      | discriminate | reflexivity | discriminate | reflexivity]. }
  clear H.
  assert (Ha : accounts s (shape_domain h) (names_in n) around sizes (written_in uses (combine (leaves n) calls)) u step m <> Some false).
  { intros Ha. rewrite <- not_true_iff_false in E. apply E. apply existsb_exists. exists (Some false). split; [|reflexivity].
    rewrite <- Ha. apply in_map, Hm. }
  unfold accounts in Ha. rewrite Hsure in Ha. cbn zeta in Ha.
  destruct (match subscripted m with Some [] => among (around ++ sizes) (mentioned m) | _ => false end) eqn:Enum.
  { left. destruct (subscripted m) as [[|]|]; try discriminate. split; [reflexivity | exact Enum]. }
  right. cbn [orb] in Ha.
  destruct (touching m), (is_said s (shape_domain h) (names_in n) (may_write u) m), (is_said s (shape_domain h) (names_in n) (may_read u) m), step,
    (among (written_in uses (combine (leaves n) calls)) (mentioned m)); cbn in Ha; intuition congruence.
Qed.
