import type { StoredEvent } from '../core/event.ts'

type Params = StoredEvent['params']

/** Consent parameters of `readConsent`, each for one purpose. */
const PURPOSES = [
  'consent.ad_storage',
  'consent.analytics_storage',
  'consent.ad_user_data',
  'consent.ad_personalization',
] as const
/** Purposes of the TCF that are consented to. Purpose 1 is storing and accessing information on a device. */
const TCF_PURPOSES = 'consent.tcf.purposes'

/**
 * Returns the visitor's consent as stated by an event: `denied` if it is denied for any purpose, `granted` if it is
 * granted for all purposes that the event names. Null if the event carries no choice.
 */
export function consentOf(params: Params): 'granted' | 'denied' | null {
  let isGranted = false
  for (const purpose of PURPOSES) {
    const state = params[purpose]
    if (state === 'denied') return 'denied'
    if (state === 'granted') isGranted = true
  }
  if (isGranted) return 'granted'
  const purposes = params[TCF_PURPOSES]
  if (purposes === undefined) return null
  return purposes.split(',').includes('1') ? 'granted' : 'denied'
}

/**
 * Returns whether the event is from a visitor's first session, as far as the vendor's own count of sessions tells: `sct`
 * of Google Analytics 4 (https://www.thyngster.com/ga4-measurement-protocol-cheatsheet/), `_idvc` of Matomo
 * (https://developer.matomo.org/api-reference/tracking-api). Null if the event has no such count.
 */
export function visitorOf(params: Params): 'new' | 'returning' | null {
  const sessions = params.sct ?? params._idvc
  if (sessions === undefined || !/^\d{1,9}$/.test(sessions) || Number(sessions) === 0) return null
  return Number(sessions) === 1 ? 'new' : 'returning'
}
