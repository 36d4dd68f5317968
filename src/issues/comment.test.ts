import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { mentionedIn } from './comment.ts'

const MEMBERS = [
  { id: 'ann', name: 'Ann', email: 'ann@example.com' },
  { id: 'annLee', name: 'Ann Lee', email: 'lee@example.com' },
  { id: 'ben', name: 'Ben', email: 'ben@example.com' },
  { id: 'otherBen', name: 'BEN', email: 'b@example.com' },
  { id: 'zoe', name: 'Zoë', email: 'zoe@example.com.au' },
  { id: 'nameless', name: null, email: 'x@example.com' },
]

test.each<[string, string[]]>([
  ['@Ann look', ['ann']],
  ['please look, @ann.', ['ann']],
  ['(@Ann)', ['ann']],
  ['@Ann Lee and @Ann', ['annLee', 'ann']],
  ['@Ann  Lee', ['annLee']],
  ['@Ann\nLee', ['annLee']],
  ['@Anna', []],
  ['@ben', ['ben', 'otherBen']],
  ['@zoe\u0308 and @ZOË', ['zoe']],
  ['@x@example.com', ['nameless']],
  ['@zoe@example.com.au', ['zoe']],
  ['@x@example.com.au', []],
  ['@x@example.com.', ['nameless']],
  ['write to ann@example.com', []],
  ['me@Ann', []],
  ['@@Ann', ['ann']],
  ['@', []],
  ['no mention', []],
])('%j mentions %j', (body, ids) => expect(mentionedIn(body, MEMBERS).sort()).toEqual([...ids].sort()))

test('any name or address is mentioned, whatever surrounds it', () => {
  const around = fc.constantFrom('', ' ', '\n', ', ', '(', ') ', '! ', ': ')
  const name = fc.constantFrom(...MEMBERS.flatMap(({ name, email }) => (name === null ? [email] : [name, email])))
  fc.assert(
    fc.property(around, name, around, (before, text, after) => {
      const expected = MEMBERS.filter(
        (one) => one.name?.toLowerCase() === text.toLowerCase() || one.email === text,
      ).map(({ id }) => id)
      expect(mentionedIn(`${before}@${text}${after}`, MEMBERS).sort()).toEqual(expected.sort())
    }),
  )
})
