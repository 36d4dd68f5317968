import { maskPersonal } from '../conditions/mask.ts'
import type { Sources } from './insight.ts'

/** Masks personal data in a text. `key`: its parameter, or field with `$`. */
export type Mask = (text: string, key?: string) => string

/** Returns the mask of answers to the caller's organization, for any caller. */
export function maskFor(sources: Pick<Sources, 'privacy'>): Mask {
  const privacy = sources.privacy()
  return (text, key = '') => maskPersonal(text, key, privacy)
}
