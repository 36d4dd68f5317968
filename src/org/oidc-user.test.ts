import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { ROLES } from '../contract/roles.ts'
import { roleOf, userOf } from './oidc-user.ts'

const aGroup = fc.constantFrom('a', 'b', 'c', 'A', '')
const someRoles = fc.array(fc.record({ group: aGroup, role: fc.constantFrom(...ROLES) }))

test('the highest role among all groups applies', () => {
  fc.assert(
    fc.property(fc.array(aGroup), someRoles, (groups, roles) => {
      const ranks = roles.filter(({ group }) => groups.includes(group)).map(({ role }) => ROLES.indexOf(role))
      expect(roleOf(groups, roles)).toBe(ROLES[Math.max(-1, ...ranks)] ?? null)
    }),
  )
})

test('any claims result in a user that can be stored', () => {
  const odd = fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue(), fc.constantFrom(undefined, ' ', 'a\0b', '\ud800'))
  const claims = fc.record({ email: odd, email_verified: odd, name: odd, groups: odd })
  fc.assert(
    fc.property(claims, claims, (idToken, userinfo) => {
      const user = userOf({ iss: 'https://acme.example', sub: 'u-1', ...idToken }, userinfo, 'groups')
      for (const text of [user.email, user.name]) {
        if (text === null) continue
        expect(text).not.toBe('')
        expect([text.trim(), text.isWellFormed(), text.includes('\0')]).toEqual([text, true, false])
      }
      expect((user.name ?? '').length).toBeLessThanOrEqual(200)
      if (user.emailVerified) {
        expect([idToken, userinfo].some((one) => one.email_verified === true && one.email !== undefined)).toBe(true)
      }
      expect(user.groups?.every((group) => typeof group === 'string')).toBe(true)
    }),
  )
})

test.each([undefined, null, '', ' ', 7, 'a\0', '\ud800', ' u', 's'.repeat(256)])(
  'the subject %j is rejected',
  (sub) => {
    expect(() => userOf({ iss: 'https://acme.example', sub }, {}, 'groups')).toThrow('not a usable string')
  },
)

const ELSEWHERE = {
  _claim_names: { groups: 'src1' },
  _claim_sources: { src1: { endpoint: 'https://graph.microsoft.com' } },
}

test.each<[string, Record<string, unknown>, Record<string, unknown>, string[] | null]>([
  ['none', {}, {}, []],
  ['listed', { groups: ['a'] }, {}, ['a']],
  ['in userinfo', {}, { groups: ['a'] }, ['a']],
  ['elsewhere', ELSEWHERE, {}, null],
  ['elsewhere without a source', { _claim_names: { groups: 'src1' } }, {}, null],
  ['elsewhere, according to the claim itself', { groups: 'src1', _claim_sources: { src1: {} } }, {}, null],
  ['elsewhere, according to userinfo', {}, ELSEWHERE, null],
  ['elsewhere, with an empty list', { groups: [], ...ELSEWHERE }, {}, null],
  ['elsewhere, with some of them listed', { groups: ['a'], ...ELSEWHERE }, {}, null],
  ['elsewhere, but userinfo lists them', ELSEWHERE, { groups: ['a'] }, ['a']],
  ['too many', { hasgroups: true }, {}, null],
  ['too many, as a string', { hasgroups: 'true' }, {}, null],
  ['too many, with an empty list', { hasgroups: true, groups: [] }, {}, null],
  ['too many, but listed', { hasgroups: true, groups: ['a'] }, {}, ['a']],
  ['not too many', { hasgroups: false }, {}, []],
  ['elsewhere for another claim', { _claim_names: { roles: 'src1' } }, {}, []],
  ['an invalid marker', { _claim_names: ['groups'], _claim_sources: 7, hasgroups: 1 }, {}, []],
  ['no marker', { _claim_names: { groups: null } }, {}, []],
  ['a group named like an inherited property', { groups: 'toString', _claim_sources: {} }, {}, ['toString']],
])('group claims: %s', (_, idToken, userinfo, groups) => {
  expect(userOf({ iss: 'https://acme.example', sub: 'u-1', ...idToken }, userinfo, 'groups').groups).toEqual(groups)
})

test('a groups claim with a different name is not affected by claims about `groups`', () => {
  const claims = { iss: 'https://acme.example', sub: 'u-1', hasgroups: true, ...ELSEWHERE }
  expect(userOf(claims, {}, 'roles').groups).toEqual([])
  expect(userOf({ ...claims, _claim_names: { roles: 'src1' } }, {}, 'roles').groups).toBeNull()
})
