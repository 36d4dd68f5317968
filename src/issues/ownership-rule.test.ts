import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { firstMatch, type MatchedFacts, type OwnershipMatch } from './ownership-rule.ts'

const FACTS: MatchedFacts = {
  domainId: 'dom_shop',
  projectId: 'prj_eu',
  vendor: 'Meta Pixel',
  labelIds: ['lbl_a', 'lbl_b'],
  path: '/checkout/pay',
}

test.each<[OwnershipMatch, Partial<MatchedFacts>, boolean]>([
  [{}, {}, true],
  [{}, { domainId: null, projectId: null, vendor: null, labelIds: [], path: null }, true],
  [{ domainId: 'dom_shop' }, {}, true],
  [{ domainId: 'dom_shop' }, { domainId: null }, false],
  [{ domainId: 'dom_blog' }, {}, false],
  [{ projectId: 'prj_eu' }, {}, true],
  [{ projectId: 'prj_eu' }, { projectId: null }, false],
  [{ vendor: 'Meta Pixel' }, {}, true],
  [{ vendor: 'meta pixel' }, {}, false],
  [{ labelId: 'lbl_b' }, {}, true],
  [{ labelId: 'lbl_b' }, { labelIds: [] }, false],
  [{ pathPrefix: '/checkout/' }, {}, true],
  [{ pathPrefix: '/checkout/' }, { path: '/checkout' }, false],
  [{ pathPrefix: '/' }, { path: null }, false],
  [{ domainId: 'dom_shop', vendor: 'Meta Pixel', pathPrefix: '/checkout' }, {}, true],
  [{ domainId: 'dom_shop', vendor: 'TikTok Pixel', pathPrefix: '/checkout' }, {}, false],
])('%j matches an issue with %j: %p', (match, facts, isMatch) => {
  expect(firstMatch([{ match }], { ...FACTS, ...facts })).toBe(isMatch ? 0 : -1)
})

test('the first rule that matches is used', () => {
  const some = <T>(values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: undefined })
  const one = fc.record({
    domainId: some(['dom_a', 'dom_b']),
    projectId: some(['prj_a', 'prj_b']),
    vendor: some(['A', 'B']),
    labelId: some(['lbl_a', 'lbl_b']),
    pathPrefix: some(['/', '/a', '/b/']),
  })
  const facts = fc.record({
    domainId: fc.constantFrom(null, 'dom_a', 'dom_b'),
    projectId: fc.constantFrom(null, 'prj_a', 'prj_b'),
    vendor: fc.constantFrom(null, 'A', 'B'),
    labelIds: fc.subarray(['lbl_a', 'lbl_b']),
    path: fc.constantFrom(null, '/', '/a/x', '/b', '/b/x'),
  })
  fc.assert(
    fc.property(fc.array(one, { maxLength: 20 }), facts, (matches, issue) => {
      const rules = matches.map((match) => ({
        match: Object.fromEntries(Object.entries(match).filter(([, value]) => value !== undefined)) as OwnershipMatch,
      }))
      const matchesAlone = rules.map((rule) => firstMatch([rule], issue) === 0)
      expect(firstMatch(rules, issue)).toBe(matchesAlone.indexOf(true))
    }),
    { numRuns: 1000 },
  )
})
