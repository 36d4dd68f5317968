import { maskPersonal } from '../conditions/mask.ts'
import type { Sources } from './insight.ts'

/** Masks personal data in a text; `key` is the parameter, or the field with `$`, that it is the value of. */
export type Mask = (text: string, key?: string) => string

/** How answers to the caller's organization are masked, whoever asks. */
export function maskFor(sources: Pick<Sources, 'privacy'>): Mask {
  const privacy = sources.privacy()
  return (text, key = '') => maskPersonal(text, key, privacy)
}
