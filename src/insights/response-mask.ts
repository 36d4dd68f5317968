import { maskPersonal } from '../conditions/mask-personal-data.ts'
import type { Sources } from './insight.ts'

/** Masks personal data in a string. `key` is the name of the parameter, or the name of a field with the prefix `$`. */
export type Mask = (text: string, key?: string) => string

/** Returns the mask for responses to the caller's organization. It does not depend on the caller's role. */
export function maskFor(sources: Pick<Sources, 'privacy'>): Mask {
  const privacy = sources.privacy()
  return (text, key = '') => maskPersonal(text, key, privacy)
}
