(* Certificates for goals of the checker: why a list of facts has no integer solution.

   Nothing here has to be right: what is found is checked by `Checker.refutes`, which is verified.
   Equations with a unit coefficient are eliminated, inequalities divided by the common divisor of their
   coefficients and rounded; then a simplex over exact integers finds a sum that is a negative number, or a
   point.  Of the disjunctions that the point does not satisfy, the part that most of them have is decided: it
   holds, or its negation does; where they have none in common, one is split; then a variable that is not an
   integer.  Where that takes long, it begins again with the negations of parts that a sum of facts excludes.
   A case that ends without the fact that distinguishes it ends the other cases too.  What was found
   out before a case was distinguished is kept: equations, inequalities, and the tableau of the simplex.
   This file is compiled twice, below `open Checker`: with `open Machine`, and with `open Large`. *)

exception Budget

let zero = number 0
let one = number 1
let minus_one = number (-1)
let absolute a = if sign a < 0 then negative a else a
let floor_div a b = (* b > 0 *)
  if sign a >= 0 then quotient a b else negative (quotient (plus (plus b minus_one) (negative a)) b)
let is_one a = equal a one

(* -- vectors, without the cost of polymorphic arrays ------------------------------------------------------ *)

let mapped (f : number -> number) (a : number array) : number array =
  let b : number array = Array.make (Array.length a) zero in
  for k = 0 to Array.length a - 1 do b.(k) <- f a.(k) done;
  b

let negated (a : number array) : number array =
  let b : number array = Array.make (Array.length a) zero in
  for k = 0 to Array.length a - 1 do b.(k) <- negative a.(k) done;
  b

(* The common divisor of g and the entries; looked for no further than to 1. *)
let divisor g (a : number array) =
  let found = ref g and k = ref 0 in
  while not (is_one !found) && !k < Array.length a do
    found := gcd !found a.(!k);
    incr k
  done;
  !found

(* A vector or, `turned`, its opposite, whose hash is the opposite too. *)
type row = { entries : number array; turned : bool; hashed : int }

let code_of (a : number array) =
  let h = ref 0 in
  for k = 0 to Array.length a - 1 do h := (!h * 31) + hash a.(k) done;
  !h

let row entries = { entries; turned = false; hashed = code_of entries }
let turned r = { r with turned = not r.turned; hashed = - r.hashed }

module Row = struct
  type t = row
  let equal a b =
    let n = Array.length a.entries in
    let rec same k = k = n || (equal a.entries.(k) b.entries.(k) && same (k + 1)) in
    let rec opposite k = k = n || (equal a.entries.(k) (negative b.entries.(k)) && opposite (k + 1)) in
    a.hashed = b.hashed && n = Array.length b.entries && if a.turned = b.turned then same 0 else opposite 0
  let hash a = a.hashed land max_int
end

module Rows = Hashtbl.Make (Row)

let rec to_nat n = if n = 0 then O else S (to_nat (n - 1))

(* -- sums of facts --------------------------------------------------------------------------------- *)

(* Facts are numbered from the oldest, so that a number stays the same when new ones come in front. *)
type sum = (int * number) list (* number of a fact, factor; by falling numbers *)

let rec add_sums (a : sum) (b : sum) : sum =
  match a, b with
  | [], l | l, [] -> l
  | (i, x) :: a', (j, y) :: b' ->
    if i > j then (i, x) :: add_sums a' b
    else if j > i then (j, y) :: add_sums a b'
    else let z = plus x y in if sign z = 0 then add_sums a' b' else (i, z) :: add_sums a' b'

let scale_sum f (a : sum) : sum =
  if sign f = 0 then [] else if is_one f then a else List.map (fun (i, x) -> (i, times f x)) a

let unknown = min_int

(* The sum of facts `from`, divided by `divisor`: exactly, or `rounded` down. *)
type atom = {
  coefficients : number array;
  mutable code : int;  (* of the coefficients; `unknown` until they are looked up *)
  constant : number;
  from : sum Lazy.t;  (* most are never asked for *)
  divisor : number;
  rounded : bool;
}

let row_of a =
  if a.code = unknown then a.code <- code_of a.coefficients;
  { entries = a.coefficients; turned = false; hashed = a.code }

(* Those that say the same are the same. *)
module Atoms = Hashtbl.Make (struct
  type t = atom
  let equal a b = equal a.constant b.constant && Row.equal (row_of a) (row_of b)
  let hash a = Row.hash (row_of a) lxor hash a.constant land max_int
end)

let lcm a b = times a (quotient b (gcd a b))

(* a + f b, where neither was rounded *)
let add_atom f a b =
  let n = Array.length a.coefficients in
  let d = lcm a.divisor b.divisor in
  let coefficients : number array = Array.make n zero in
  for k = 0 to n - 1 do coefficients.(k) <- plus a.coefficients.(k) (times f b.coefficients.(k)) done;
  { coefficients; code = unknown;
    constant = plus a.constant (times f b.constant);
    from =
      lazy
        (add_sums
           (scale_sum (quotient d a.divisor) (Lazy.force a.from))
           (scale_sum (times f (quotient d b.divisor)) (Lazy.force b.from)));
    divisor = d;
    rounded = false }

let opposite a =
  { a with coefficients = negated a.coefficients; code = (if a.code = unknown then unknown else - a.code); constant = negative a.constant;
    from = lazy (scale_sum minus_one (Lazy.force a.from)) }

let divisor_of a = divisor zero a.coefficients

(* Divided by the common divisor g of its coefficients; the constant is rounded. *)
let divided a g =
  if is_one g then a
  else
    let coefficients = mapped (fun x -> quotient x g) a.coefficients in
    { coefficients; code = unknown;
      constant = floor_div a.constant g;
      from = a.from;
      divisor = times a.divisor g;
      rounded = sign (remainder a.constant g) <> 0 }

(* -- why there is no solution ------------------------------------------------------------------------ *)

module Numbers = Set.Make (Int)
module Levels = Map.Make (Int)

(* `uses`: the numbers of the facts that it needs, without those that it adds itself. *)
type proof = { shape : shape; uses : Numbers.t }

and shape =
  | Total of sum  (* a negative number *)
  | Rounded of int * sum * number * proof  (* the fact with this number is the sum, divided and rounded *)
  | Decided of int * atom * proof * proof  (* the fact with this number is the atom, or its negation *)
  | Distinguished of int * int * (int * proof) list
      (* a disjunction; each of its parts is so many facts, numbered from here *)

let uses_of (a : sum) = List.fold_left (fun found (i, _) -> Numbers.add i found) Numbers.empty a
let total a = { shape = Total a; uses = uses_of a }
let needs size p = match Numbers.max_elt_opt p.uses with Some k -> k >= size | None -> false

let round size a d rest =
  if needs size rest then
    { shape = Rounded (size, a, d, rest); uses = Numbers.union (uses_of a) (Numbers.remove size rest.uses) }
  else rest

(* As the checker reads it, where a fact is known by how many newer ones there are. *)
let rec written levels size p : certificate =
  let added first count =
    let rec go k found = if k = count then found else go (k + 1) (Levels.add (first + k) (size + k) found) in
    go 0 levels
  in
  let combination (a : sum) : combination =
    let rec go last = function
      | [] -> []
      | (number, factor) :: rest ->
        let index = size - 1 - Levels.find number levels in
        (to_nat (index - last - 1), to_z factor) :: go index rest
    in
    go (-1) a
  in
  let positive d = match to_z d with Zpos p -> p | _ -> assert false in
  let further first count = written (added first count) (size + count) in
  match p.shape with
  | Total a -> Farkas (combination a)
  | Rounded (k, a, d, rest) -> Cut (combination a, positive d, further k 1 rest)
  | Decided (k, a, holds, fails) ->
    let term = (to_z a.constant, List.map to_z (Array.to_list a.coefficients)) in
    Split (term, further k 1 holds, further k 1 fails)
  | Distinguished (k, first, parts) ->
    Cases (to_nat (size - 1 - Levels.find k levels), List.map (fun (count, p) -> further first count p) parts)

(* Rounded atoms among the parts become facts of their own: how many facts there are then, the sum of
   the parts, its scale, and what goes around the rest of the proof.  `add` is told each new fact. *)
let summed ?(add = fun _ _ -> ()) size (parts : (number * atom) list) =
  let parts = List.filter (fun (f, _) -> sign f <> 0) parts in
  let scale = List.fold_left (fun m (_, a) -> if a.rounded then m else lcm m a.divisor) one parts in
  let one_more (size, total, around) (f, a) =
    let f = times f scale in
    if a.rounded then begin
      let from = Lazy.force a.from in
      add from a.divisor;
      (size + 1, add_sums [ (size, f) ] total, fun rest -> around (round size from a.divisor rest))
    end
    else (size, add_sums (scale_sum (quotient f a.divisor) (Lazy.force a.from)) total, around)
  in
  let size, total, around = List.fold_left one_more (size, [], fun rest -> rest) parts in
  (size, total, scale, around)

(* A negative number as the sum of these multiples of atoms. *)
let conclude size (parts : (number * atom) list) : proof =
  let _, all, _, around = summed size parts in
  let common = List.fold_left (fun g (_, f) -> gcd g f) zero all in
  let common = if sign common = 0 then one else common in
  around (total (List.map (fun (i, f) -> (i, quotient f common)) all))

let exclude a b = sign (plus a.constant b.constant) < 0

(* Of two that say the same, the one that was rounded is weaker. *)
let weaker b a =
  if equal b.constant a.constant then b.rounded || not a.rounded else not (less b.constant a.constant)

(* -- the simplex ------------------------------------------------------------------------------------ *)

(* Row r says: scale.(r) * (what is basic there) = sum of table.(r).(j) * (what is not, in column j).
   What is not basic has its value: 0 for a variable, the lower bound for a slack.  Rows are never changed
   but replaced, so that a tableau can be continued in several ways. *)
type tableau = {
  atoms : atom array;  (* slack width + k is that of atom k *)
  table : number array array;
  scale : number array;
  basic : int array;
  outside : int array;
}

type outcome =
  | Contradiction of (number * atom) list
  | Point of (number * number) array * ((number * atom) list * number) option * tableau
      (* numerators and denominators; and, where one is not an integer, a sum of atoms whose coefficients
         have a common divisor: divided and rounded, it excludes the point (Gomory) *)

let is_fraction (p, q) = sign (remainder p q) <> 0

let start width =
  { atoms = [||]; table = [||]; scale = [||]; basic = [||]; outside = Array.init width (fun j -> j) }

(* The tableau with these atoms, too: stronger ones in place of those with the same coefficients, and rows for
   the others, in terms of what is not basic. *)
let extended width t (atoms : atom list) =
  let seen : int Rows.t = Rows.create 64 in
  Array.iteri (fun k a -> Rows.replace seen (row_of a) k) t.atoms;
  let old = Array.copy t.atoms in
  let stronger a k = if not (weaker a old.(k)) then old.(k) <- a in
  let is_new a = match Rows.find_opt seen (row_of a) with Some k -> stronger a k; false | None -> true in
  let added = Array.of_list (List.filter is_new atoms) in
  let place = Array.make width (-1) and line_of = Array.make width (-1) in
  Array.iteri (fun j v -> if v < width then place.(v) <- j) t.outside;
  Array.iteri (fun r v -> if v < width then line_of.(v) <- r) t.basic;
  let row a =
    let rows = ref one in
    Array.iteri
      (fun v x -> if sign x <> 0 && line_of.(v) >= 0 then rows := lcm !rows t.scale.(line_of.(v)))
      a.coefficients;
    let total : number array = Array.make width zero in
    let add v x =
      if sign x <> 0 then
        if line_of.(v) < 0 then total.(place.(v)) <- plus total.(place.(v)) (times !rows x)
        else begin
          let r = line_of.(v) in
          let line : number array = t.table.(r) and f = times x (quotient !rows t.scale.(r)) in
          for j = 0 to width - 1 do total.(j) <- plus total.(j) (times f line.(j)) done
        end
    in
    Array.iteri add a.coefficients;
    let g = divisor !rows total in
    if is_one g then (total, !rows) else (mapped (fun x -> quotient x g) total, quotient !rows g)
  in
  let rows = Array.map row added and count = Array.length old in
  { atoms = Array.append old added;
    table = Array.append t.table (Array.map fst rows);
    scale = Array.append t.scale (Array.map snd rows);
    basic = Array.append t.basic (Array.mapi (fun k _ -> width + count + k) added);
    outside = Array.copy t.outside }

let simplex width (begun : tableau) : outcome =
  let { atoms; table; scale; basic; outside } = begun in
  let rows = Array.length atoms in
  let low v = if v < width then zero else negative atoms.(v - width).constant in
  let numerator r =
    let total = ref zero and line : number array = table.(r) in
    for j = 0 to width - 1 do
      if sign line.(j) <> 0 then total := plus !total (times line.(j) (low outside.(j)))
    done;
    !total
  in
  let reduce r =
    let g = divisor scale.(r) table.(r) in
    if not (is_one g) then begin
      scale.(r) <- quotient scale.(r) g;
      table.(r) <- mapped (fun t -> quotient t g) table.(r)
    end
  in
  let pivot r j =
    let old = table.(r) in
    let p = old.(j) in
    table.(r) <- (if sign p > 0 then negated old else Array.copy old);
    table.(r).(j) <- (if sign p > 0 then scale.(r) else negative scale.(r));
    scale.(r) <- absolute p;
    reduce r;
    let row : number array = table.(r) and d = scale.(r) in
    Array.iteri
      (fun q (line : number array) ->
        let f = line.(j) in
        if q <> r && sign f <> 0 then begin
          let g = gcd f d in
          let f = quotient f g and d = quotient d g in
          let sum : number array = Array.make width zero in
          for k = 0 to width - 1 do
            sum.(k) <- (if k = j then times f row.(k) else plus (times d line.(k)) (times f row.(k)))
          done;
          table.(q) <- sum;
          scale.(q) <- times scale.(q) d;
          reduce q
        end)
      table;
    let leaving = basic.(r) in
    basic.(r) <- outside.(j);
    outside.(j) <- leaving
  in
  let violated () =
    let best = ref (-1) in
    for r = 0 to rows - 1 do
      let v = basic.(r) in
      if v >= width && (!best < 0 || v < basic.(!best)) && less (numerator r) (times scale.(r) (low v)) then best := r
    done;
    !best
  in
  let entering r =
    let best = ref (-1) and line : number array = table.(r) in
    for j = 0 to width - 1 do
      let v = outside.(j) and t = sign line.(j) in
      if (t > 0 || (t < 0 && v < width)) && (!best < 0 || v < outside.(!best)) then best := j
    done;
    !best
  in
  (* Of the rows of fractions, the shortest sum that can be cut. *)
  let cut () =
    let better best r v =
      let d = scale.(r) in
      if v < width && is_fraction (numerator r, d) then begin
        let part j = (let t = remainder table.(r).(j) d in if sign t < 0 then plus t d else t), outside.(j) in
        let parts = List.filter (fun (f, _) -> sign f <> 0) (List.init width part) in
        match best with
        | _ when List.exists (fun (_, v) -> v < width) parts -> best
        | Some (others, _) when List.length others <= List.length parts -> best
        | _ -> Some (List.map (fun (f, v) -> (f, atoms.(v - width))) parts, d)
      end
      else best
    in
    let best = ref None in
    Array.iteri (fun r v -> best := better !best r v) basic;
    !best
  in
  let rec go count =
    if count > 2000 then raise Budget;
    match violated () with
    | -1 ->
      let point = Array.make width (zero, one) in
      Array.iteri (fun r v -> if v < width then point.(v) <- (numerator r, scale.(r))) basic;
      Point (point, cut (), begun)
    | r -> (
      match entering r with
      | -1 ->
        let other j =
          if sign table.(r).(j) = 0 then None else Some (negative table.(r).(j), atoms.(outside.(j) - width))
        in
        Contradiction ((scale.(r), atoms.(basic.(r) - width)) :: List.filter_map other (List.init width (fun j -> j)))
      | j -> pivot r j; go (count + 1))
  in
  go 0

(* -- conjunctions ----------------------------------------------------------------------------------- *)

exception Contradictory of proof

(* 0 = above, which is 0 <= above and 0 <= below = - above: a fact, or two inequalities. *)
type equation = { above : atom; below : atom }

let equation a = { above = a; below = opposite a }

(* a + f e *)
let add_equation f a e =
  if sign f = 0 then a else if sign f > 0 then add_atom f a e.above else add_atom (negative f) a e.below

let substituted solved a =
  let without a (k, e) = add_equation (negative (times a.coefficients.(k) e.above.coefficients.(k))) a e in
  List.fold_left without a solved

(* Equations with a unit coefficient, and which variable each gives; then the others. *)
let eliminate size equations =
  let rec go before solved left = function
    | [] when left = [] || List.length solved = before -> (List.rev solved, left)
    | [] -> go (List.length solved) solved [] left (* later ones may have changed them *)
    | e :: rest ->
      let known = List.rev solved in
      let e = { above = substituted known e.above; below = substituted known e.below } in
      let g = divisor_of e.above in
      if sign g = 0 then begin
        if sign e.above.constant <> 0 then
          raise (Contradictory (conclude size [ (one, if sign e.above.constant > 0 then e.below else e.above) ]));
        go before solved left rest
      end
      else begin
        let above = divided e.above g and below = divided e.below g in
        if above.rounded then raise (Contradictory (conclude size [ (one, above); (one, below) ]));
        let unit = ref (-1) in
        Array.iteri (fun k x -> if is_one (absolute x) then unit := k) above.coefficients;
        if !unit >= 0 then go before ((!unit, { above; below }) :: solved) left rest
        else go before solved ({ above; below } :: left) rest
      end
  in
  go 0 [] [] equations

let tightened size a =
  let g = divisor_of a in
  if sign g > 0 then Some (divided a g)
  else if sign a.constant < 0 then raise (Contradictory (conclude size [ (one, a) ]))
  else None


(* Of atoms with the same coefficients the strongest; two with opposite ones may contradict each other. *)
let strongest size atoms =
  let seen : atom Rows.t = Rows.create 32 in
  let order = ref [] in
  List.iter
    (fun a ->
      let row = row_of a in
      match Rows.find_opt seen row with
      | Some b when weaker a b -> ()
      | earlier -> (
        if earlier = None then order := row :: !order;
        Rows.replace seen row a;
        match Rows.find_opt seen (turned row) with
        | Some b when exclude a b -> raise (Contradictory (conclude size [ (one, a); (one, b) ]))
        | _ -> ()))
    atoms;
  (seen, List.rev_map (Rows.find seen) !order)

let value point a =
  (* numerator and denominator of the atom's value at the point *)
  let num = ref a.constant and den = ref one in
  Array.iteri
    (fun k x ->
      if sign x <> 0 then begin
        let p, q = point.(k) in
        let n = plus (times !num q) (times (times x p) !den) and d = times !den q in
        let g = gcd n d in
        num := quotient n g;
        den := quotient d g
      end)
    a.coefficients;
  (!num, !den)

(* -- facts with these numbers -------------------------------------------------------------------------- *)

type formula = Positive of atom (* 0 <= a *) | Null of atom (* 0 = a *) | All of formula list | One of formula list

let nothing : sum Lazy.t = Lazy.from_val []

let atom_of width (constant, coefficients) =
  let entries = Array.make width zero in
  List.iteri (fun k x -> entries.(k) <- of_z x) coefficients;
  { coefficients = entries; code = unknown; constant = of_z constant; from = nothing; divisor = one; rounded = false }

let rec width_of = function
  | Above (_, k) | Zero (_, k) -> List.length k
  | Both fs | Either fs -> List.fold_left (fun n f -> max n (width_of f)) 0 fs

let rec formula_of width = function
  | Above l -> Positive (atom_of width l)
  | Zero l -> Null (atom_of width l)
  | Both fs -> All (List.map (formula_of width) fs)
  | Either fs -> One (List.map (formula_of width) fs)

let rec within limit = function
  | Positive a | Null a ->
    let small x = less (absolute x) limit in
    small a.constant && Array.for_all small a.coefficients
  | All fs | One fs -> List.for_all (within limit) fs

(* A fact with numbers that are too large is left out: nothing is known then of a point. *)
let formulas_of limit width goal =
  let skipped = ref false in
  let fits found = match limit with None -> true | Some n -> within (number n) found in
  let one f =
    match formula_of width f with
    | found when fits found -> found
    | _ | (exception Overflow) -> skipped := true; All []
  in
  let found = List.map one goal in
  (found, !skipped)

let rec true_at point = function
  | Positive a -> sign (fst (value point a)) >= 0
  | Null a -> sign (fst (value point a)) = 0
  | All fs -> List.for_all (true_at point) fs
  | One fs -> List.exists (true_at point) fs

(* -- what is known of a conjunction ------------------------------------------------------------------- *)

type knowledge = {
  solved : (int * equation) list;
  table : atom Rows.t;  (* the strongest inequality for each vector of coefficients *)
  atoms : atom list;
  plain : atom list;  (* all inequalities without the variables that were eliminated, not divided *)
}

(* Two inequalities that are an equation with a unit coefficient. *)
let equal_pair table a =
  match Rows.find_opt table (turned (row_of a)) with
  | Some b when sign (plus a.constant b.constant) = 0 && Array.exists (fun x -> is_one (absolute x)) a.coefficients ->
    Some { above = a; below = b }
  | _ -> None

exception Rounded_pairs of atom list

let knowledge_of size solved plain =
  let table, atoms = strongest size (List.filter_map (tightened size) plain) in
  { solved; table; atoms; plain }

(* Inequalities that are equations are used as such, which may tighten others.  Those that were rounded have
   to be facts first. *)
let pairs_of known atoms =
  let pairs = List.filter_map (equal_pair known.table) atoms in
  match List.filter (fun a -> a.rounded) (List.concat_map (fun e -> [ e.above; e.below ]) pairs) with
  | _ :: _ as rounded -> raise (Rounded_pairs rounded)
  | [] -> pairs

let rec knowledge size equations inequalities =
  let solved, left = eliminate size equations in
  let others = List.concat_map (fun e -> [ e.above; e.below ]) left in
  let known = knowledge_of size solved (List.map (substituted solved) inequalities @ others) in
  match pairs_of known known.atoms with
  | [] -> known
  | pairs -> further_equations size known pairs

(* With equations that eliminate further variables. *)
and further_equations size known = function
  | [] -> known
  | equations -> (
    let without e = { above = substituted known.solved e.above; below = substituted known.solved e.below } in
    let solved, left = eliminate size (List.map without equations) in
    let others = List.concat_map (fun e -> [ e.above; e.below ]) left in
    match solved, others with
    | [], [] -> known
    | _ ->
      let known = knowledge_of size (known.solved @ solved) (others @ List.map (substituted solved) known.plain) in
      further_equations size known (if solved = [] then [] else pairs_of known known.atoms))

(* What is known when facts come in, inequalities and equations. *)
let more size known inequalities equations =
  let plain = List.map (substituted known.solved) inequalities in
  let table = Rows.copy known.table in
  let is_there a = Rows.find table (row_of a) == a in
  let stronger a = match Rows.find_opt table (row_of a) with Some b -> not (weaker a b) | None -> true in
  let add added a =
    match tightened size a with
    | Some a when stronger a -> (
      Rows.replace table (row_of a) a;
      match Rows.find_opt table (turned (row_of a)) with
      | Some b when exclude a b -> raise (Contradictory (conclude size [ (one, a); (one, b) ]))
      | _ -> a :: added)
    | _ -> added
  in
  let added = List.filter is_there (List.fold_left add [] plain) in
  let known =
    { known with table; atoms = added @ List.filter is_there known.atoms; plain = plain @ known.plain }
  in
  further_equations size known (equations @ pairs_of known added)

type status = Yes | No | Maybe

(* What `substituted` makes of an atom, without where it is from. *)
let remaining solved a : number array * number =
  let row : number array = Array.copy a.coefficients and constant = ref a.constant in
  List.iter
    (fun (k, e) ->
      let x = row.(k) in
      if sign x <> 0 then begin
        let from : number array = e.above.coefficients in
        let f = negative (times x from.(k)) in
        for j = 0 to Array.length row - 1 do
          let y = from.(j) in
          if sign y <> 0 then row.(j) <- plus row.(j) (times f y)
        done;
        constant := plus !constant (times f e.above.constant)
      end)
    solved;
  (row, !constant)

(* Whether 0 <= entries + constant, divided by g, holds or cannot by one known inequality. *)
let compared known g entries constant =
  let row = row (if is_one g then entries else mapped (fun x -> quotient x g) entries) in
  let constant = floor_div constant g in
  match Rows.find_opt known.table row with
  | Some b when not (less constant b.constant) -> Yes
  | _ -> (
    match Rows.find_opt known.table (turned row) with
    | Some b when sign (plus constant b.constant) < 0 -> No
    | _ -> Maybe)

(* Whether a formula holds, or cannot, by what one known inequality says. *)
let rec status known = function
  | Positive a ->
    let row, constant = remaining known.solved a in
    let g = divisor zero row in
    if sign g = 0 then if sign constant >= 0 then Yes else No else compared known g row constant
  | Null a -> (
    let row, constant = remaining known.solved a in
    let g = divisor zero row in
    if sign g = 0 then if sign constant = 0 then Yes else No
    else if sign (remainder constant g) <> 0 then No
    else
      match compared known g row constant, compared known g (negated row) (negative constant) with
      | No, _ | _, No -> No
      | Yes, Yes -> Yes
      | _ -> Maybe)
  | All fs -> several known No Yes fs
  | One fs -> several known Yes No fs

(* The first one that is `decisive` decides; otherwise all have to be `neutral`. *)
and several known decisive neutral fs =
  let rec go so_far = function
    | [] -> so_far
    | f :: rest ->
      let found = status known f in
      if found = decisive then decisive else go (if found = neutral then so_far else Maybe) rest
  in
  go neutral fs

(* Why a further fact, with number `size` or, of several, from there on, cannot hold by what one known
   inequality says. *)
let rec contradiction known size f =
  let against number count factor a =
    let a = substituted known.solved { a with from = Lazy.from_val [ (number, factor) ] } in
    let g = divisor_of a in
    if sign g = 0 then if sign a.constant < 0 then Some (conclude count [ (one, a) ]) else None
    else
      let a = divided a g in
      match Rows.find_opt known.table (turned (row_of a)) with
      | Some b when exclude a b -> Some (conclude count [ (one, a); (one, b) ])
      | _ -> None
  in
  let rec one_of number count = function
    | Positive a -> against number count one a
    | Null a -> (
      match against number count one a, against number count minus_one (opposite a) with
      | None, found | found, _ -> found)
    | All _ | One _ -> None
  in
  match f with
  | All fs ->
    let count = size + List.length fs in
    List.find_map Fun.id (List.mapi (fun k f -> one_of (count - 1 - k) count f) fs)
  | f -> one_of size (size + 1) f

(* Two inequalities whose sum, divided and rounded, excludes the point. *)
let pair_cut point atoms =
  let valued = List.map (fun a -> (a, value point a)) atoms in
  let violated (a, (p, q)) (b, (p', q')) =
    let coefficients = Array.mapi (fun k x -> plus x b.coefficients.(k)) a.coefficients in
    let g = divisor zero coefficients in
    if sign g = 0 || is_one g then None
    else
      let c = plus a.constant b.constant in
      let rest = plus c (negative (times g (floor_div c g))) in
      let sum = plus (times p q') (times p' q) in
      if less sum (times rest (times q q')) then Some ([ (one, a); (one, b) ], g) else None
  in
  let rec go = function
    | [] -> None
    | a :: rest -> ( match List.find_map (violated a) rest with None -> go rest | found -> found)
  in
  go valued

(* A disjunction by its number, and those of its parts that may hold: what cannot hold stays so. *)
type choice = { number : int; parts : formula list; possible : formula list }

(* What is known of fewer facts: of `count`; the disjunctions that are open; and a tableau,
   for the variables that were left when these had been eliminated. *)
type before = {
  known : knowledge;
  open_choices : choice list;
  count : int;
  tableau : ((int * equation) list * tableau) option;
}

let point_of width tableau (known : knowledge) =
  let begun = match tableau with Some (solved, t) when solved == known.solved -> t | _ -> start width in
  match simplex width (extended width begun known.atoms) with
  | Contradiction _ as found -> found
  | Point (point, cut, t) ->
    (* a variable that was eliminated: e = 0 with coefficient 1 or -1; the last one first *)
    List.iter
      (fun (k, e) ->
        point.(k) <- (zero, one);
        let num, den = value point e.above in
        point.(k) <- (negative (times num e.above.coefficients.(k)), den))
      (List.rev known.solved);
    Point (point, cut, t)

(* -- the search --------------------------------------------------------------------------------------- *)

(* `Left_out`: what fits has a solution, and there are facts that do not fit. *)
type answer = Certificate of certificate | Solution of z list | Left_out | Unknown

let push f facts = match f with All gs -> gs @ facts | f -> f :: facts

(* The fact that a sum becomes when it is divided and rounded. *)
let fact_of width facts (total : sum) d =
  let table = Array.of_list (List.rev facts) in
  let add so_far (number, f) =
    match table.(number) with
    | Positive a | Null a -> add_atom f so_far { a with from = nothing }
    | All _ | One _ -> assert false
  in
  let sum = List.fold_left add (atom_of width (Z0, [])) total in
  let coefficients = mapped (fun x -> quotient x d) sum.coefficients in
  Positive { sum with coefficients; code = unknown; constant = floor_div sum.constant d }

let max_depth = 400

(* Of the parts of disjunctions that are open at a point, the one that most disjunctions have. *)
let commonest choices open_ =
  let seen = Atoms.create 64 in
  let times a = Option.value (Atoms.find_opt seen a) ~default:0 in
  let count f = match f with Positive a -> Atoms.replace seen a (times a + 1) | Null _ | All _ | One _ -> () in
  List.iter (fun one -> List.iter count one.possible) choices;
  let better best f =
    match f with
    | Positive a when times a > (match best with None -> 1 | Some b -> times b) -> Some a
    | _ -> best
  in
  List.fold_left (fun best one -> List.fold_left better best one.possible) None open_

(* What the facts say, and the disjunctions among them; those that are new since `before` alone are looked at. *)
let learned before facts size =
  let first = match before with Some b -> b.count | None -> 0 in
  let rec go number facts equations inequalities choices =
    let from = Lazy.from_val [ (number, one) ] in
    match facts with
    | f :: rest when number >= first -> (
      let next = go (number - 1) rest in
      match f with
      | Positive a -> next equations ({ a with from } :: inequalities) choices
      | Null a -> next (equation { a with from } :: equations) inequalities choices
      | One fs -> next equations inequalities ({ number; parts = fs; possible = fs } :: choices)
      | All _ -> next equations inequalities choices)
    | _ -> (List.rev equations, List.rev inequalities, List.rev choices)
  in
  let equations, inequalities, choices = go (size - 1) facts [] [] [] in
  match before with
  | None -> (knowledge size equations inequalities, choices)
  | Some b -> (more size b.known inequalities equations, choices @ b.open_choices)

(* Parts of disjunctions that contradict what is known, by a sum of facts. *)
let impossible_parts width size tableau known choices =
  let seen = Atoms.create 64 in
  let is_new a = not (Atoms.mem seen a) && (Atoms.replace seen a (); true) in
  let from = Lazy.from_val [ (size, one) ] in
  let cannot a =
    match more (size + 1) known [ { a with from } ] [] with
    | exception Contradictory _ -> true
    | exception Rounded_pairs _ -> false
    | further -> (
      match point_of width (Some (known.solved, tableau)) further with Contradiction _ -> true | Point _ -> false)
  in
  let part = function Positive a when is_new a && cannot a -> Some a | _ -> None in
  List.concat_map (fun one -> List.filter_map part one.possible) choices

let search ?(rounds = 0) limit max_cuts budget deadline (goal : fact list) : answer =
  let width = List.fold_left (fun n f -> max n (width_of f)) 0 goal in
  let left = ref budget in
  let exception Stop of answer in
  (* `used`: the numbers of disjunctions one of whose parts is among the facts *)
  let rec solve ?(rounds = 0) before depth cuts used facts size : proof =
    if depth > max_depth || Sys.time () > deadline then raise (Stop Unknown);
    match learned before facts size with
    | exception Contradictory proof -> proof
    | exception Rounded_pairs atoms ->
      further before depth cuts used facts size (List.map (fun a -> ([ (one, a) ], one)) atoms)
    | known, choices -> (
      let live one =
        let rec open_parts found = function
          | [] -> Some { one with possible = List.rev found }
          | f :: rest -> (
            match status known f with
            | Yes -> None
            | No -> open_parts found rest
            | Maybe -> open_parts (f :: found) rest)
        in
        if List.mem one.number used then None else open_parts [] one.possible
      in
      let choices = List.filter_map live choices in
      let now tableau = Some { known; open_choices = choices; count = size; tableau } in
      let tableau = Option.bind before (fun b -> b.tableau) in
      match List.filter (fun one -> List.compare_length_with one.possible 1 <= 0) choices with
      | _ :: _ as certain ->
        branch known (now tableau) depth cuts used facts size certain
      | [] -> (
        decr left;
        if !left < 0 then raise (Stop Unknown);
        match point_of width tableau known with
        | Contradiction parts -> conclude size parts
        | Point (_, _, t) when rounds > 0 ->
          let impossible = impossible_parts width size t known choices in
          without_parts ~rounds:(rounds - 1) (now (Some (known.solved, t))) depth cuts used facts size impossible
        | Point (point, cut, t) -> (
          let before = now (Some (known.solved, t)) in
          let open_ = List.filter (fun one -> not (List.exists (true_at point) one.possible)) choices in
          let smaller a b =
            match a with Some a' when List.compare_lengths b.possible a'.possible >= 0 -> a | _ -> Some b
          in
          match commonest choices open_, List.fold_left smaller None open_ with
          | Some a, _ -> decide a before depth cuts used facts size
          | None, Some one -> branch known before depth cuts used facts size [ one ]
          | None, None -> (
            match cut with
            | Some (parts, d) when cuts < max_cuts -> further before depth (cuts + 1) used facts size [ (parts, d) ]
            | _ -> (
              match pair_cut point known.atoms with
              | Some (parts, d) -> further before depth cuts used facts size [ (parts, d) ]
              | None -> split before depth cuts used facts size point)))))
  (* Either it holds, or its negation is a fact from then on. *)
  and decide a before depth cuts used facts size =
    decided a depth cuts used facts size before (solve before (depth + 1) cuts used)
  and decided a depth cuts used facts size before otherwise =
    let negation = { (opposite a) with constant = plus (negative a.constant) minus_one } in
    let holds = solve before (depth + 1) cuts used (Positive a :: facts) (size + 1) in
    if not (needs size holds) then holds
    else
      let fails = otherwise (Positive negation :: facts) (size + 1) in
      if not (needs size fails) then fails
      else
        { shape = Decided (size, a, holds, fails);
          uses = Numbers.remove size (Numbers.union holds.uses fails.uses) }
  (* The negations of these, which cannot hold, as facts. *)
  and without_parts ~rounds before depth cuts used facts size = function
    | [] -> solve ~rounds before (depth + 1) cuts used facts size
    | a :: rest ->
      let otherwise facts size = without_parts ~rounds before depth cuts used facts size rest in
      decided a depth cuts used facts size before otherwise
  (* One part of each of these disjunctions, one after the other. *)
  and branch known before depth cuts used facts size = function
    | [] -> solve before (depth + 1) cuts used facts size
    | { number; parts } :: later ->
      let part f =
        let longer = push f facts in
        let count = List.length longer - size in
        match contradiction known size f with
        | Some proof -> (count, proof)
        | None -> (count, branch known before depth cuts (number :: used) longer (size + count) later)
      in
      let rec each found = function
        | [] ->
          let uses = List.fold_left (fun all (_, p) -> Numbers.union all p.uses) (Numbers.singleton number) found in
          { shape = Distinguished (number, size, List.rev found); uses = Numbers.filter (fun k -> k < size) uses }
        | f :: rest ->
          let count, proof = part f in
          if needs size proof then each ((count, proof) :: found) rest else proof
      in
      each [] parts
  (* New facts: sums of parts, divided and rounded; rounded parts become facts before. *)
  and further before depth cuts used facts size = function
    | [] -> solve before (depth + 1) cuts used facts size
    | (parts, d) :: rest ->
      let facts = ref facts in
      let add from divisor = facts := fact_of width !facts from divisor :: !facts in
      let size, total, scale, around = summed ~add size parts in
      let d = times d scale in
      if is_one d && List.length total = 1 then around (further before depth cuts used !facts size rest)
      else
        let fact = fact_of width !facts total d in
        around (round size total d (further before depth cuts used (fact :: !facts) (size + 1) rest))
  and split before depth cuts used facts size point =
    let fractional = ref (-1) in
    Array.iteri (fun k x -> if !fractional < 0 && is_fraction x then fractional := k) point;
    if !fractional < 0 then
      raise (Stop (Solution (Array.to_list (Array.map (fun (p, q) -> to_z (quotient p q)) point))));
    let k = !fractional in
    let p, q = point.(k) in
    let up = atom_of width (Z0, []) in
    up.coefficients.(k) <- one;
    decide { up with constant = negative (plus (floor_div p q) one) } before depth cuts used facts size
  in
  let formulas, skipped = formulas_of limit width goal in
  let count = List.length goal in
  let levels = List.fold_left (fun found k -> Levels.add k k found) Levels.empty (List.init count Fun.id) in
  match solve ~rounds None 0 0 [] formulas count with
  | proof -> Certificate (written levels count proof)
  | exception Stop (Solution _) when skipped -> Left_out
  | exception Stop answer -> answer
  | exception Budget -> Unknown
