(* The numbers of the finder where those of `machine.ml` do not fit: integers of any size.

   Below 2^60 a number is a machine integer; others have a sign and digits to the base 2^30, the lowest first
   and the highest not 0.  The arithmetic is that of [Knuth, The Art of Computer Programming 2, 4.3.1]. *)

open Checker

exception Overflow (* never raised *)

type number = Small of int | Large of int * int array

let bits = 30
let base = 1 lsl bits
let digits n = [| n land (base - 1); n lsr bits |]

(* The number with these digits, in the one form that it has. *)
let formed sign (d : int array) =
  let size = ref (Array.length d) in
  while !size > 0 && d.(!size - 1) = 0 do decr size done;
  match !size with
  | 0 -> Small 0
  | 1 -> Small (sign * d.(0))
  | 2 -> Small (sign * ((d.(1) lsl bits) + d.(0)))
  | n -> Large (sign, if n = Array.length d then d else Array.sub d 0 n)

let parts = function Small n -> ((if n < 0 then -1 else 1), digits (abs n)) | Large (s, d) -> (s, d)
let number n = if abs n < 1 lsl 60 then Small n else Large (compare n 0, [| abs n land (base - 1); (abs n lsr bits) land (base - 1); abs n lsr (2 * bits) |])
let sign = function Small n -> compare n 0 | Large (s, _) -> s
let equal (a : number) (b : number) = a = b
(* That of the opposite is the opposite. *)
let hash = function Small n -> n | Large (s, d) -> s * Hashtbl.hash d
let negative = function Small n -> Small (- n) | Large (s, d) -> Large (- s, d)

let digit (d : int array) k = if k < Array.length d then d.(k) else 0

let magnitude_order (a : int array) (b : int array) =
  let rec from k = if k < 0 then 0 else if digit a k <> digit b k then compare (digit a k) (digit b k) else from (k - 1) in
  from (max (Array.length a) (Array.length b) - 1)

let added a b =
  let n = 1 + max (Array.length a) (Array.length b) in
  let sum = Array.make n 0 and carry = ref 0 in
  for k = 0 to n - 1 do
    let s = digit a k + digit b k + !carry in
    sum.(k) <- s land (base - 1);
    carry := s lsr bits
  done;
  sum

(* a - b, where a is not the smaller one *)
let subtracted a b =
  let n = Array.length a in
  let rest = Array.make n 0 and borrow = ref 0 in
  for k = 0 to n - 1 do
    let s = a.(k) - digit b k - !borrow in
    rest.(k) <- s land (base - 1);
    borrow := if s < 0 then 1 else 0
  done;
  rest

let plus a b =
  match a, b with
  | Small x, Small y -> number (x + y)
  | _ ->
    let s, d = parts a and t, e = parts b in
    if s = t then formed s (added d e)
    else if magnitude_order d e >= 0 then formed s (subtracted d e)
    else formed t (subtracted e d)

let less a b = match a, b with Small x, Small y -> x < y | _ -> sign (plus a (negative b)) < 0

let product a b =
  let n = Array.length a and m = Array.length b in
  let total = Array.make (n + m) 0 in
  for i = 0 to n - 1 do
    let carry = ref 0 in
    for j = 0 to m - 1 do
      let s = total.(i + j) + (a.(i) * b.(j)) + !carry in
      total.(i + j) <- s land (base - 1);
      carry := s lsr bits
    done;
    total.(i + m) <- total.(i + m) + !carry
  done;
  total

let times a b =
  match a, b with
  | Small x, Small y when abs x < base && abs y < base -> Small (x * y)
  | _ ->
    let s, d = parts a and t, e = parts b in
    formed (s * t) (product d e)

let shifted (a : int array) count =
  let n = Array.length a in
  Array.init (n + 1) (fun k ->
    (((if k < n then a.(k) lsl count else 0) lor (if k > 0 then a.(k - 1) lsr (bits - count) else 0)) land (base - 1)))

(* Digits of the quotient and of the remainder of magnitudes; b has no leading 0. *)
let long_division a b =
  let m = Array.length b in
  let shift = ref 0 in
  while (b.(m - 1) lsl !shift) land (1 lsl (bits - 1)) = 0 do incr shift done;
  let u = shifted a !shift and v = Array.sub (shifted b !shift) 0 m in
  let count = Array.length a - m + 1 in
  let q = Array.make (max 1 count) 0 in
  for j = count - 1 downto 0 do
    let top = (u.(j + m) lsl bits) lor u.(j + m - 1) in
    let guess = ref (min (top / v.(m - 1)) (base - 1)) in
    let subtract () =
      let borrow = ref 0 in
      for k = 0 to m - 1 do
        let s = u.(j + k) - (!guess * v.(k)) - !borrow in
        u.(j + k) <- s land (base - 1);
        borrow := - (s asr bits)
      done;
      u.(j + m) <- u.(j + m) - !borrow
    in
    subtract ();
    while u.(j + m) < 0 do
      decr guess;
      let carry = ref 0 in
      for k = 0 to m - 1 do
        let s = u.(j + k) + v.(k) + !carry in
        u.(j + k) <- s land (base - 1);
        carry := s lsr bits
      done;
      u.(j + m) <- u.(j + m) + !carry
    done;
    q.(j) <- !guess
  done;
  let rest = Array.init m (fun k -> (u.(k) lsr !shift) lor ((u.(k + 1) lsl (bits - !shift)) land (base - 1))) in
  (q, rest)

let trimmed d =
  let size = ref (Array.length d) in
  while !size > 0 && d.(!size - 1) = 0 do decr size done;
  Array.sub d 0 !size

let divided a b =
  match a, b with
  | Small x, Small y -> (Small (x / y), Small (x mod y))
  | _ ->
    let s, d = parts a and t, e = parts b in
    let d = trimmed d and e = trimmed e in
    if magnitude_order d e < 0 then (Small 0, a)
    else
      let q, rest = long_division d e in
      (formed (s * t) q, formed s rest)

(* Rounded to zero, as in C. *)
let quotient a b = fst (divided a b)
let remainder a b = snd (divided a b)
let absolute a = if sign a < 0 then negative a else a
let rec gcd a b = if sign b = 0 then absolute a else gcd b (remainder a b)

let rec of_positive = function
  | XH -> Small 1
  | XO p -> times (Small 2) (of_positive p)
  | XI p -> plus (Small 1) (times (Small 2) (of_positive p))

let of_z = function Z0 -> Small 0 | Zpos p -> of_positive p | Zneg p -> negative (of_positive p)

let rec to_positive n =
  let half, bit = divided n (Small 2) in
  if sign half = 0 then XH else if sign bit = 0 then XO (to_positive half) else XI (to_positive half)

let to_z n = match sign n with 0 -> Z0 | 1 -> Zpos (to_positive n) | _ -> Zneg (to_positive (negative n))
