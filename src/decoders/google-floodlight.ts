import type { DecodedEvent, Decoder, KeyReference } from './decoder.ts'
import { googleTag } from './google-tag.ts'
import { sideChannel } from './route-builders.ts'
import { readSemicolons } from './semicolon-params.ts'
import type { VendorRequest } from './vendor-request.ts'

const ACTIVITY = /^\/(?:ddm\/)?activity(?:i|j|_ext)?[;/](?<fields>.+)$/

const KEYS: readonly KeyReference[] = [
  {
    url: 'https://support.google.com/campaignmanager/answer/2823450',
    meanings: {
      src: ['identifier', 'ID of the advertiser or Floodlight configuration'],
      type: ['code', 'Tag string of the activity’s group'],
      cat: ['code', 'Tag string of the activity'],
      ord: ['identifier', 'Order ID of a sale, or a number that prevents caching'],
      num: ['number', 'Random number that prevents caching'],
      qty: ['number', 'Number of items sold, or of transactions'],
      cost: ['amount', 'Revenue of the sale'],
      'u#': ['text', 'Custom Floodlight variable'],
      '~oref': ['url', 'Address of the page'],
      dc_lat: ['boolean', '1 if the device limits ad tracking'],
      dc_rdid: ['identifier', 'Advertising ID of the device'],
      tag_for_child_directed_treatment: ['boolean', '1 if the request concerns a child-directed page'],
      tfua: ['boolean', '1 if the request comes from a user under the age of consent'],
      npa: ['boolean', '1 if ads must not be personalized'],
      gdpr: ['boolean', '1 if the GDPR applies'],
      gdpr_consent: ['code', 'Consent string of the Transparency and Consent Framework'],
    },
  },
]

/**
 * The tag of Campaign Manager 360. The name of an activity consists of the tag strings of its group and of the activity
 * itself.
 */
export const googleFloodlight: Decoder = {
  vendor: 'Google Floodlight',
  source: 'https://support.google.com/campaignmanager/answer/2823450',
  keys: KEYS,
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
