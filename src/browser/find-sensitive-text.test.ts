import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { hiddenIn, type Piece } from './find-sensitive-text.ts'

const CARD = '4929123488887777'
const find = hiddenIn({ secrets: [CARD, 'abc'], privacy: { regions: ['DE'], patterns: [] } })
const text = (text: string, more: Partial<Piece> = {}): Piece => ({
  text,
  key: '',
  startsLine: true,
  isField: false,
  ...more,
})
const inLine = (one: string) => text(one, { startsLine: false })
const field = (one: string, key = '') => text(one, { isField: true, key })

/** Returns the pieces with their hidden parts replaced by `#`. */
function hidden(pieces: readonly Piece[]): string[] {
  const shown = pieces.map(({ text }) => Array.from({ length: text.length }, (_, at) => text[at]))
  for (const { piece, start, end } of find(pieces)) shown[piece]?.fill('#', start, end)
  return shown.map((characters) => characters.join(''))
}

describe('covered parts', () => {
  test.each<[string, Piece[], string[]]>([
    ['a secret', [text('x abc y')], ['x ### y']],
    ['a grouped secret', [text('4929 1234 8888 7777')], ['###################']],
    ['a short grouped secret is ordinary text', [text('a b c')], ['a b c']],
    ['an e-mail address', [text('to a@mail.example.com now')], ['to ################## now']],
    [
      'an e-mail address in several parts of a line',
      [text('a@mail'), inLine('.example'), inLine('.com')],
      ['######', '########', '####'],
    ],
    [
      'groups in separate blocks',
      [text('4929'), text('1234'), text('8888'), text('7777')],
      ['####', '####', '####', '####'],
    ],
    [
      'groups in fields',
      [field('4929'), field('1234'), field('8888'), field('7777')],
      ['####', '####', '####', '####'],
    ],
    ['a number in a phone field', [field('03090182000', 'phone')], ['###########']],
    ['the same number in another field', [field('03090182000')], ['03090182000']],
    ['a percent-encoded e-mail address', [text('?mail=a%40mail.example.com')], ['##########################']],
    ['nothing', [text('Blue shirt'), text('19.90'), field('2')], ['Blue shirt', '19.90', '2']],
  ])('are found correctly for %s', (_what, pieces, shown) => {
    expect(hidden(pieces)).toEqual(shown)
  })

  test('include a secret in any grouping or split', () => {
    const gaps = fc.constantFrom('', ' ', '-', '\u00a0', '.', ' - ', '/')
    const groups = fc.array(fc.tuple(fc.integer({ min: 1, max: 6 }), gaps, fc.boolean()), {
      minLength: 16,
      maxLength: 16,
    })
    fc.assert(
      fc.property(groups, (cuts) => {
        const pieces: Piece[] = []
        let rest = CARD
        for (const [length, gap, startsLine] of cuts) {
          if (rest === '') break
          const digits = rest.slice(0, length)
          rest = rest.slice(length)
          pieces.push(text(digits + (rest ? gap : ''), { startsLine }))
        }
        expect(hidden(pieces).join('')).not.toMatch(/[0-9]/)
      }),
    )
  })

  test('include the unsearched rest of a very long page', () => {
    const pieces = [text('Blue shirt'), text('x'.repeat(300_000)), text('a@mail.example.com')]
    expect(hidden(pieces).map((shown) => shown[0])).toEqual(['B', '#', '#'])
  })
})
