import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { wikiText } from './wiki.ts'

/** How Jira takes a backslash: com.atlassian.renderer.v2.components.BackslashEscapeRendererComponent. */
const ESCAPED = /(?<!\\)\\[-#*_+?^~|%{}[\]()!@]/g
/** Stands for a sign without its meaning: a letter that is in no picture such as "(x)". */
const PLAIN = 'w'
/** What would mean something to Jira in what is left. */
const MEANS_SOMETHING = [
  /[{}[\]|!\\]/,
  /(?<![\p{L}\p{Nd}\\])[-_+^~*](?=\S)(?:.*?\S)?[-_+^~*](?![\p{L}\p{Nd}])/u,
  /\?\?/,
  /:\/\//,
  /^[#*-]+ /,
  /\((?:[ynix/!+?-]|on|off|\*[rgby]?|flag|flagoff)\)/,
]

describe('text of others in wiki mark-up', () => {
  test.each([
    ['add_to_cart on 2026-01-05 12:07 UTC', 'add_to_cart on 2026-01-05 12:07 UTC'],
    ['[~admin] look', '\\[\\~admin\\] look'],
    ['{code}x{code}', '\\{code\\}x\\{code\\}'],
    ['*bold* _it_ -no- +yes+ ^up^ ~down~', '\\*bold\\* \\_it\\_ \\-no\\- \\+yes\\+ \\^up\\^ \\~down\\~'],
    ['??cite?? why?', '\\?\\?cite\\?\\? why?'],
    ['!https://evil.example/x.png!', '\\!https&#58;//evil.example/x.png\\!'],
    ['[here|http://evil.example]', '\\[here\\|http&#58;//evil.example\\]'],
    ['a | b || c', 'a \\| b \\|\\| c'],
    ['C:\\Temp\\\\x', 'C:&#92;Temp&#92;&#92;x'],
    ['&lt;b&gt; & &#42;', '&#38;lt;b&#38;gt; & &#38;#42;'],
    ['fine (3 events) :) (y)', 'fine (3 events) &#58;) \\(y)'],
    ['# one', '\\# one'],
    ['ann@example.com', 'ann\\@example.com'],
  ])('%j becomes %j', (text, expected) => {
    expect(wikiText(text)).toBe(expected)
  })

  test('means nothing, whatever it is', () => {
    const sign = fc.constantFrom(...'*_-+^~?{}[]|!()#@:;/\\&%ab1 ')
    const text = fc.array(fc.oneof(sign, fc.constantFrom('{code}', '[~x]', '??', '://', '\\\\', 'h1. ', '---')), {
      maxLength: 12,
    })
    fc.assert(
      fc.property(text, (parts) => {
        const left = wikiText(parts.join(''))
          .replaceAll(/&#\d+;/g, PLAIN)
          .replaceAll(ESCAPED, PLAIN)
        for (const pattern of MEANS_SOMETHING) expect(left).not.toMatch(pattern)
      }),
    )
  })
})
