import { maskPersonal } from '../conditions/mask-personal-data.ts'
import { AppError, atField } from '../core/error.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { may } from '../http/permission.ts'
import type { Principal } from '../http/principal.ts'
import type { AlertChannel } from './alert.ts'

/**
 * Target URLs often contain a credential, for example in Slack and Microsoft Teams workflows, so they are stored as
 * `sealed:https://hooks.slack.com/<base64url>`. The origin is readable; decrypting the URL requires the master key.
 * Equal URLs have equal sealed values, so stored targets can be compared.
 */
const SEALED = 'sealed:'
const MASK = '***'
/**
 * Number of characters of the sealed target that a masked target shows, to distinguish targets with the same origin: 48
 * bits of a MAC.
 */
const MASK_LENGTH = 8
const MASKED_URL = /^https?:\/\/[^/?#]+\/\*{3}[\w-]{0,8}$/

/** Returns a target for storage: URLs are sealed, other targets are unchanged. */
export function sealTarget(box: SecretBox, target: string): string {
  const url = URL.parse(target)
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return target
  return `${SEALED}${url.origin}/${box.sealEqually(target).toString('base64url')}`
}

/** Returns a stored target in clear text. Throws `AppError('invalid')` when it was sealed with another master key. */
export function unsealTarget(box: SecretBox, stored: string): string {
  if (!stored.startsWith(SEALED)) return stored
  try {
    return box.open(Buffer.from(new URL(unsealedPart(stored)).pathname.slice(1), 'base64url'))
  } catch {
    throw new AppError('invalid', 'the stored URL cannot be decrypted with the current master key; enter it again')
  }
}

/** Returns a URL with the origin of a stored target, or the unchanged target when it is not a URL. */
export const unsealedPart = (stored: string): string =>
  stored.startsWith(SEALED) ? stored.slice(SEALED.length) : stored

/**
 * Returns a stored channel with its target masked: a URL as `https://hooks.slack.com/***Ab3dE6gH`, an e-mail address as
 * `a***@e***.com`. `owners` and integration ids are not masked.
 */
export function maskChannel({ type, target }: AlertChannel): AlertChannel {
  return { type, target: type === 'email' ? maskPersonal(target) : maskUrl(target) }
}

/** Returns a stored URL masked, and any other string unchanged. */
export function maskUrl(stored: string): string {
  const url = URL.parse(unsealedPart(stored))
  if (!url?.host) return stored
  const tail = stored.startsWith(SEALED) ? url.pathname.slice(1, 1 + MASK_LENGTH) : ''
  return `${url.origin}/${MASK}${tail}`
}

/** Returns the beginning of the stored target of a masked URL. */
export const sealedPrefixOf = (masked: string): string => SEALED + masked.replace(`/${MASK}`, '/')

export const isMaskedUrl = (text: string): boolean => MASKED_URL.test(text)

/** Returns stored channels as the caller may see them: targets are masked for viewers and read-only keys. */
export function showChannels(box: SecretBox, channels: readonly AlertChannel[], principal: Principal): AlertChannel[] {
  return channels.map(may(principal, 'seeTokens') ? (channel) => unsealChannel(box, channel) : maskChannel)
}

/** Returns a channel with its target in clear text, or masked when it was sealed with another master key. */
export const unsealChannel = (box: SecretBox, channel: AlertChannel): AlertChannel => ({
  ...channel,
  target: unsealOrMaskTarget(box, channel.target),
})

/** Returns a stored target in clear text, or masked when it was sealed with another master key. */
export function unsealOrMaskTarget(box: SecretBox, stored: string): string {
  try {
    return unsealTarget(box, stored)
  } catch {
    return maskUrl(stored)
  }
}

/**
 * Returns channels for storage. A channel with a masked target gets the matching target from `stored`. Throws
 * `AppError('invalid')`, naming the field (such as `channels[2].target`), when `stored` has no matching target.
 * @param check throws an `AppError` that names the field of a channel that can't deliver
 */
export function acceptChannels(
  box: SecretBox,
  channels: readonly AlertChannel[],
  { stored, check }: { stored: readonly AlertChannel[]; check: (channels: readonly AlertChannel[]) => void },
): AlertChannel[] {
  const entered = channels.map((channel, index) =>
    atField(`channels[${index}].target`, () => ({
      ...channel,
      target: unsealTarget(box, withStoredTarget(channel, index, stored)),
    })),
  )
  check(entered)
  return entered.map((channel) => ({ ...channel, target: sealTarget(box, channel.target) }))
}

const isMasked = ({ type, target }: AlertChannel) => (type === 'email' ? target.includes(MASK) : isMaskedUrl(target))

/** Returns the stored target for a masked target; an unmasked target is returned unchanged. */
function withStoredTarget(channel: AlertChannel, index: number, stored: readonly AlertChannel[]): string {
  if (!isMasked(channel)) return channel.target
  const isMeant = (one: AlertChannel) => one.type === channel.type && maskChannel(one).target === channel.target
  const sameIndex = stored.slice(index, index + 1).filter(isMeant)
  const meant = sameIndex.length > 0 ? sameIndex : stored.filter(isMeant)
  const [first, ...others] = new Set(meant.map(({ target }) => target))
  if (first !== undefined && others.length === 0) return first
  throw new AppError('invalid', `is masked; enter the full ${channel.type === 'email' ? 'address' : 'URL'}`)
}
