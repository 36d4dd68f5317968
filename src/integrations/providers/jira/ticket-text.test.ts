import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { buildMessage, type Message } from '../../message/message.ts'
import { adfOf, adfText, bodyOf, escapeWiki, plainOf, summaryOf } from './ticket-text.ts'

const HOSTILE = '[~admin] {code}{noformat}*x* !http://evil.example/p.png! @here <b>'

/** A message in which every untrusted field contains this text. */
function messageOf(text: string, fields = 3): Message {
  const sample = Object.fromEntries(Array.from({ length: fields }, (_, index) => [`${text}${index}`, text]))
  return buildMessage({
    transition: 'opened',
    at: 0,
    publicUrl: 'https://watch.example',
    issue: {
      id: 'iss_1',
      title: text,
      status: 'open',
      severity: 'high',
      alertType: 'data_validation',
      occurrences: 3,
      impactValue: 5,
      firstSeenAt: 0,
      lastSeenAt: 0,
      hosts: Array.from({ length: 20 }, () => text),
      notes: text,
    },
    alert: { id: 'alr_1', name: text },
    domain: { id: 'dom_1', name: text },
    finding: { summary: text, observed: 1, expected: 2, expectation: text, vendor: text, event: text, sample },
    changes: [{ id: 'chg_1', title: text, occurredAt: 0 }],
    timezone: 'UTC',
    openNow: 3,
  })
}

describe('untrusted text', () => {
  test('becomes text nodes in a Jira document', () => {
    const body = bodyOf(messageOf(HOSTILE), true)
    if (typeof body === 'string') throw new Error('no document')
    expect(adfText(body)).toContain(HOSTILE)
    const types = [...JSON.stringify(body).matchAll(/"type":"(\w+)"/g)].map(([, type]) => type)
    const known = ['doc', 'paragraph', 'text', 'strong', 'bulletList', 'listItem', 'codeBlock', 'link']
    expect(types.filter((type) => !known.includes(type ?? ''))).toEqual([])
    expect([...JSON.stringify(body).matchAll(/"href":"([^"]+)"/g)].map(([, href]) => href)).toEqual([
      'https://watch.example/issues/iss_1',
    ])
  })

  test('is escaped in wiki mark-up', () => {
    const body = String(bodyOf(messageOf(HOSTILE), false))
    expect(body).toContain('\\[\\~admin\\] \\{code\\}\\{noformat\\}\\*x\\*')
    const outside = body.split('{noformat}').filter((_, index) => index % 2 === 0)
    for (const active of [/\[~/, /(?<!\\)[{}!@]/, /http:\/\/evil/]) expect(outside.join('')).not.toMatch(active)
    // Jira interprets mentions even in verbatim blocks.
    expect(body).not.toContain('[~admin')
    expect(body.match(/\{noformat\}/g)).toHaveLength(2)
  })

  test.each([true, false])("is truncated to Jira's limit (documents: %p)", (isCloud) => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 600, unit: 'binary' }), fc.nat(60), (text, fields) => {
        const body = bodyOf(messageOf(text.repeat(8).slice(0, 900), fields), isCloud)
        const length = typeof body === 'string' ? body.length : JSON.stringify(body).length
        expect(length).toBeLessThanOrEqual(32_767)
        expect(plainOf(body)).toContain('Open in Tagwarden')
        expect(JSON.stringify(body)).not.toContain('"text":""')
      }),
      { numRuns: 50 },
    )
  })

  test('becomes a one-line summary of at most 255 characters', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 600, unit: 'binary' }), (text) => {
        const summary = summaryOf(messageOf(text))
        expect(summary.length).toBeLessThanOrEqual(255)
        expect(summary).not.toMatch(/[\r\n\u2028\u2029]/)
      }),
    )
  })

  test('has the same plain text in every Jira format', () => {
    const one = adfOf([{ kind: 'sentence', title: 'New issue', text: 'a  b' }])
    const other = { ...one, content: (one.content ?? []).map((node) => ({ ...node, attrs: { localId: 'x' } })) }
    expect(plainOf(other)).toBe(plainOf(one))
  })
})

/**
 * Characters that Jira escapes with a backslash, as in
 * com.atlassian.renderer.v2.components.BackslashEscapeRendererComponent.
 */
const ESCAPED = /(?<!\\)\\[-#*_+?^~|%{}[\]()!@]/g
/** Represents an escaped character. The letter occurs in no emoticon such as "(x)". */
const PLAIN = 'w'
/** Mark-up that must not remain in the text. */
const MEANS_SOMETHING = [
  /[{}[\]|!\\]/,
  /(?<![\p{L}\p{Nd}\\])[-_+^~*](?=\S)(?:.*?\S)?[-_+^~*](?![\p{L}\p{Nd}])/u,
  /\?\?/,
  /:\/\//,
  /^[#*-]+ /,
  /\((?:[ynix/!+?-]|on|off|\*[rgby]?|flag|flagoff)\)/,
]

describe('escaping of wiki mark-up', () => {
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
  ])('converts %j to %j', (text, expected) => {
    expect(escapeWiki(text)).toBe(expected)
  })

  test('leaves no active mark-up in any input', () => {
    const sign = fc.constantFrom(...'*_-+^~?{}[]|!()#@:;/\\&%ab1 ')
    const text = fc.array(fc.oneof(sign, fc.constantFrom('{code}', '[~x]', '??', '://', '\\\\', 'h1. ', '---')), {
      maxLength: 12,
    })
    fc.assert(
      fc.property(text, (parts) => {
        const left = escapeWiki(parts.join(''))
          .replaceAll(/&#\d+;/g, PLAIN)
          .replaceAll(ESCAPED, PLAIN)
        for (const pattern of MEANS_SOMETHING) expect(left).not.toMatch(pattern)
      }),
    )
  })
})
