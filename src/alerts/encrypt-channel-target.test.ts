import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { testBox as box } from '../../test/fixtures.ts'
import { secretBox } from '../core/secret-box.ts'
import type { AlertChannel } from './alert.ts'
import {
  acceptChannels,
  maskChannel,
  sealTarget,
  unsealChannel,
  unsealedPart,
  unsealTarget,
} from './encrypt-channel-target.ts'

const SLACK = 'https://hooks.slack.com/services/T0/B0/secret'
const hook = (target: string): AlertChannel => ({ type: 'webhook', target })
const sealedHook = (target: string) => hook(sealTarget(box, target))
const accept = (channels: readonly AlertChannel[], stored: readonly AlertChannel[] = []) =>
  acceptChannels(box, channels, { stored, check() {} })

describe('a stored channel target', () => {
  test.each([
    ['a URL', SLACK, 'https://hooks.slack.com'],
    [
      'a URL with a port, a query and userinfo',
      'http://a:secret@x.example:8080/?sig=secret#secret',
      'http://x.example:8080',
    ],
    ['a URL with capital letters', 'HTTPS://X.example/secret', 'https://x.example'],
  ])('that is %s is sealed, and shows only its origin', (_what, target, origin) => {
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
  ])('that is not a URL is stored unchanged: %j', (target) => {
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

  test('sealed with another master key is masked for display and rejected for delivery', () => {
    const other = secretBox(Buffer.alloc(32, 9))
    const stored = sealedHook(SLACK)
    expect(unsealChannel(other, stored)).toEqual(maskChannel(stored))
    expect(() => unsealTarget(other, stored.target)).toThrow('enter it again')
  })
})

describe('a masked channel target', () => {
  test.each<[AlertChannel, string | RegExp]>([
    [sealedHook(SLACK), /^https:\/\/hooks\.slack\.com\/\*{3}[\w-]{8}$/],
    // Stored by a version that did not encrypt targets.
    [hook(SLACK), 'https://hooks.slack.com/***'],
    [hook('int_01ke:WEB'), 'int_01ke:WEB'],
    [{ type: 'email', target: 'ann@example.com, ben@x.example' }, 'a***@e***.com, b***@x***.example'],
    [{ type: 'email', target: 'owners' }, 'owners'],
  ])('hides the private parts of %j', (channel, masked) => expect(maskChannel(channel).target).toMatch(masked))

  test('distinguishes two URLs with the same origin', () => {
    const [one, other] = [sealedHook(SLACK), sealedHook(`${SLACK}2`)].map(maskChannel)
    expect(one?.target).not.toBe(other?.target)
  })
})

describe('the channels in a request', () => {
  const anns: AlertChannel[] = [
    { type: 'email', target: 'ann@example.com' },
    { type: 'email', target: 'abe@example.com' },
  ]
  const stored = [sealedHook(SLACK), sealedHook(`${SLACK}2`), hook('int_01ke'), ...anns]

  test('are stored sealed', () => {
    expect(accept([hook(SLACK), hook('int_01ke')])).toEqual([sealedHook(SLACK), hook('int_01ke')])
  })

  test('keep the stored targets when they are sent masked, in any order of URLs', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([0, 1, 2]), (order) => {
        const meant = order.flatMap((index) => stored[index] ?? [])
        expect(accept(meant.map(maskChannel), stored)).toEqual(meant)
      }),
    )
    expect(accept(stored.map(maskChannel), stored)).toEqual(stored)
  })

  test('are validated with unmasked targets', () => {
    const checked: AlertChannel[] = []
    const check = (channels: readonly AlertChannel[]) => void checked.push(...channels)
    acceptChannels(box, stored.slice(0, 1).map(maskChannel), { stored, check })
    expect(checked).toEqual([hook(SLACK)])
  })

  test.each<[string, AlertChannel]>([
    ['that matches no stored target', hook('https://hooks.slack.com/***AAAAAAAA')],
    ['with another channel type', { ...maskChannel(sealedHook(SLACK)), type: 'team_chat' }],
    ['that matches two stored targets at other positions', { type: 'email', target: 'a***@e***.com' }],
  ])('are rejected when they contain a masked target %s', (_what, channel) => {
    expect(() => accept([hook('int_01ke'), channel], stored)).toThrow(/^channels\[1\]\.target: is masked/)
  })

  test('are accepted when a URL only looks masked', () => {
    const target = 'https://x.example/***/in?a=***'
    expect(accept([hook(target)])).toEqual([sealedHook(target)])
  })
})
