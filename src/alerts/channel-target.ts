import { maskPersonal } from '../conditions/mask.ts'
import { AppError, atField } from '../core/error.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { may } from '../http/permission.ts'
import type { Principal } from '../http/principal.ts'
import type { Channel } from './alert.ts'

/**
 * Targets that are URLs often contain a credential, such as those of Slack and of workflows of Microsoft Teams, so they
 * are stored as `sealed:https://hooks.slack.com/<base64url>`: the origin can be read, the URL only with the master key.
 * Equal URLs are sealed equally, so the stored texts can be compared.
 */
const SEALED = 'sealed:'
const MASK = '***'
/** Characters of a sealed target that tell masked targets of one origin apart: 48 bits of a MAC. */
const MASK_LENGTH = 8
const MASKED_URL = /^https?:\/\/[^/?#]+\/\*{3}[\w-]{0,8}$/

/** Returns a target as it is stored: a URL sealed, any other text as it is. */
export function sealTarget(box: SecretBox, target: string): string {
  const url = URL.parse(target)
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return target
  return `${SEALED}${url.origin}/${box.sealEqually(target).toString('base64url')}`
}

/** Returns a stored target as it was entered. Fails with `invalid` when another master key sealed it. */
export function unsealTarget(box: SecretBox, stored: string): string {
  if (!stored.startsWith(SEALED)) return stored
  try {
    return box.open(Buffer.from(new URL(unsealedPart(stored)).pathname.slice(1), 'base64url'))
  } catch {
    throw new AppError('invalid', 'the URL can not be read any more; enter it again')
  }
}

/** Returns a URL with the origin of a stored target; the text itself when it is no URL. */
export const unsealedPart = (stored: string): string =>
  stored.startsWith(SEALED) ? stored.slice(SEALED.length) : stored

/**
 * Returns a stored channel as it is shown to those who may not see its target: a URL as `https://hooks.slack.com/***Ab3dE6gH`,
 * an e-mail address as `a***@e***.com`. `owners` and ids of integrations are not masked.
 */
export function maskChannel({ type, target }: Channel): Channel {
  return { type, target: type === 'email' ? maskPersonal(target) : maskUrl(target) }
}

/** Returns a stored URL masked; any other text as it is. */
export function maskUrl(stored: string): string {
  const url = URL.parse(unsealedPart(stored))
  if (!url?.host) return stored
  const tail = stored.startsWith(SEALED) ? url.pathname.slice(1, 1 + MASK_LENGTH) : ''
  return `${url.origin}/${MASK}${tail}`
}

export const isMaskedUrl = (text: string): boolean => MASKED_URL.test(text)

/** Returns stored channels as the caller may see them: with masked targets for viewers and read-only keys. */
export function showChannels(box: SecretBox, channels: readonly Channel[], principal: Principal): Channel[] {
  return channels.map(may(principal, 'seeTokens') ? (channel) => unsealChannel(box, channel) : maskChannel)
}

/** Returns a channel with its target as it was entered; masked where another master key sealed it. */
export const unsealChannel = (box: SecretBox, channel: Channel): Channel => ({
  ...channel,
  target: unsealOrMaskTarget(box, channel.target),
})

/** Returns a stored target as it was entered; masked where another master key sealed it. */
export function unsealOrMaskTarget(box: SecretBox, stored: string): string {
  try {
    return unsealTarget(box, stored)
  } catch {
    return maskUrl(stored)
  }
}

/**
 * Returns entered channels as they are stored. One whose target is masked stays as it is in `stored`. Fails with `invalid`,
 * naming the place as in `channels[2].target`, for a masked one that `stored` does not have.
 * @param check throws an `AppError` that names the place of a channel that can't deliver
 */
export function acceptChannels(
  box: SecretBox,
  channels: readonly Channel[],
  { stored, check }: { stored: readonly Channel[]; check: (channels: readonly Channel[]) => void },
): Channel[] {
  const entered = channels.map((channel, index) =>
    atField(`channels[${index}].target`, () => ({
      ...channel,
      target: unsealTarget(box, unmasked(channel, index, stored)),
    })),
  )
  check(entered)
  return entered.map((channel) => ({ ...channel, target: sealTarget(box, channel.target) }))
}

const isMasked = ({ type, target }: Channel) => (type === 'email' ? target.includes(MASK) : isMaskedUrl(target))

/** Returns the target that a masked one stands for, or the target itself. */
function unmasked(channel: Channel, index: number, stored: readonly Channel[]): string {
  if (!isMasked(channel)) return channel.target
  const isMeant = (one: Channel) => one.type === channel.type && maskChannel(one).target === channel.target
  const samePlace = stored.slice(index, index + 1).filter(isMeant)
  const meant = samePlace.length > 0 ? samePlace : stored.filter(isMeant)
  const [first] = meant
  if (first && meant.length === 1) return first.target
  throw new AppError('invalid', `is masked; enter the whole ${channel.type === 'email' ? 'address' : 'URL'}`)
}
