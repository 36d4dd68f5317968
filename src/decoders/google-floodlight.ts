import type { DecodedEvent, Decoder } from './decoder.ts'
import { googleTag } from './google-tag.ts'
import { sideChannel } from './route-builders.ts'
import { readSemicolons } from './semicolon-params.ts'
import type { VendorRequest } from './vendor-request.ts'

const ACTIVITY = /^\/(?:ddm\/)?activity(?:i|j|_ext)?[;/](?<fields>.+)$/

/**
 * The tag of Campaign Manager 360. The name of an activity consists of the tag strings of its group and of the activity
 * itself.
 */
export const googleFloodlight: Decoder = {
  vendor: 'Google Floodlight',
  source: 'https://support.google.com/campaignmanager/answer/2823450',
  hosts: [
    'fls.doubleclick.net',
    'ad.doubleclick.net',
    // Used if the visitor has denied consent.
    'ade.googlesyndication.com',
    'adservice.google.com',
    'google.com',
  ],
  routes: [
    // The same activity, sent again after a redirect or for the browser's attribution API.
    { ...sideChannel(ACTIVITY), when: ({ path }) => /[;/](?:dc_pre=|register_conversion=1)/.test(path) },
    sideChannel(/^\/(?:ddm\/fls|gmp\/conversion)\b/),
    { path: ACTIVITY, read: readActivity },
    googleTag(/^DC-/),
  ],
}

/** `activityi;src=1234;type=sales;cat=order0;u1=x;ord=77?` */
function readActivity({ path, query }: VendorRequest): DecodedEvent[] {
  const sent = readSemicolons(ACTIVITY.exec(path)?.groups?.fields ?? '')
  const { src, type = '', cat = '' } = sent
  return [{ event: `${type}/${cat}`, account: src ? `DC-${src}` : null, params: { ...query, ...sent } }]
}
