import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { testBox as box } from '../../test/fixtures.ts'
import { secretBox } from '../core/secret-box.ts'
import type { Channel } from './alert.ts'
import { acceptChannels, maskChannel, sealTarget, unsealChannel, unsealedPart, unsealTarget } from './channel-target.ts'

const SLACK = 'https://hooks.slack.com/services/T0/B0/secret'
const hook = (target: string): Channel => ({ type: 'webhook', target })
const sealedHook = (target: string) => hook(sealTarget(box, target))
const accept = (channels: readonly Channel[], stored: readonly Channel[] = []) =>
  acceptChannels(box, channels, { stored, check() {} })

describe('a stored target', () => {
  test.each([
    ['a URL', SLACK, 'https://hooks.slack.com'],
    [
      'a URL with a port, a query and userinfo',
      'http://a:secret@x.example:8080/?sig=secret#secret',
      'http://x.example:8080',
    ],
    ['a URL in capitals', 'HTTPS://X.example/secret', 'https://x.example'],
  ])('%s is sealed, with its origin', (_what, target, origin) => {
    const stored = sealTarget(box, target)
    expect(stored).toStartWith(`sealed:${origin}/`)
    expect(stored).not.toContain('secret')
    expect(unsealedPart(stored)).toStartWith(`${origin}/`)
    expect(unsealTarget(box, stored)).toBe(target)
    expect(sealTarget(box, target)).toBe(stored)
  })

  test.each([
    'owners',
    'ann@example.com, ben@example.com',
    'int_01ke',
    'int_01ke:WEB',
    'mailto:a@b.example',
    'https://',
    '',
  ])('%j stays as it is', (target) => {
    expect(sealTarget(box, target)).toBe(target)
    expect(unsealTarget(box, target)).toBe(target)
    expect(unsealedPart(target)).toBe(target)
  })

  test('can be decrypted for any URL', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (url) => {
        expect(unsealTarget(box, sealTarget(box, url))).toBe(url)
      }),
    )
  })

  test('sealed with another master key is masked for display, and refused for delivery', () => {
    const other = secretBox(Buffer.alloc(32, 9))
    const stored = sealedHook(SLACK)
    expect(unsealChannel(other, stored)).toEqual(maskChannel(stored))
    expect(() => unsealTarget(other, stored.target)).toThrow('enter it again')
  })
})

describe('a masked target', () => {
  test.each<[Channel, string | RegExp]>([
    [sealedHook(SLACK), /^https:\/\/hooks\.slack\.com\/\*{3}[\w-]{8}$/],
    // Stored by a version that did not encrypt targets.
    [hook(SLACK), 'https://hooks.slack.com/***'],
    [hook('int_01ke:WEB'), 'int_01ke:WEB'],
    [{ type: 'email', target: 'ann@example.com, ben@x.example' }, 'a***@e***.com, b***@x***.example'],
    [{ type: 'email', target: 'owners' }, 'owners'],
  ])('%j', (channel, masked) => expect(maskChannel(channel).target).toMatch(masked))

  test('distinguishes two URLs of one origin', () => {
    const [one, other] = [sealedHook(SLACK), sealedHook(`${SLACK}2`)].map(maskChannel)
    expect(one?.target).not.toBe(other?.target)
  })
})

describe('channels in a request', () => {
  const anns: Channel[] = [
    { type: 'email', target: 'ann@example.com' },
    { type: 'email', target: 'abe@example.com' },
  ]
  const stored = [sealedHook(SLACK), sealedHook(`${SLACK}2`), hook('int_01ke'), ...anns]

  test('are stored sealed', () => {
    expect(accept([hook(SLACK), hook('int_01ke')])).toEqual([sealedHook(SLACK), hook('int_01ke')])
  })

  test('with masked targets keep the stored ones, in any order of URLs', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([0, 1, 2]), (order) => {
        const meant = order.flatMap((index) => stored[index] ?? [])
        expect(accept(meant.map(maskChannel), stored)).toEqual(meant)
      }),
    )
    expect(accept(stored.map(maskChannel), stored)).toEqual(stored)
  })

  test('are checked in clear', () => {
    const checked: Channel[] = []
    const check = (channels: readonly Channel[]) => void checked.push(...channels)
    acceptChannels(box, stored.slice(0, 1).map(maskChannel), { stored, check })
    expect(checked).toEqual([hook(SLACK)])
  })

  test.each<[string, Channel]>([
    ['of nobody', hook('https://hooks.slack.com/***AAAAAAAA')],
    ['of another type', { ...maskChannel(sealedHook(SLACK)), type: 'team_chat' }],
    ['that two addresses have, in another place', { type: 'email', target: 'a***@e***.com' }],
  ])('with a masked target %s are refused', (_what, channel) => {
    expect(() => accept([hook('int_01ke'), channel], stored)).toThrow(/^channels\[1\]\.target: is masked/)
  })

  test('with a URL that only looks masked are accepted', () => {
    const target = 'https://x.example/***/in?a=***'
    expect(accept([hook(target)])).toEqual([sealedHook(target)])
  })
})
