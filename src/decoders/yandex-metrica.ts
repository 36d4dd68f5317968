import type { DecodedEvent, Decoder, KeyReference, Route } from './decoder.ts'
import { unfolded } from './json.ts'
import { type Params, scalarOrNull } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const WATCH = /\/watch\/(?<account>\d+)(?:\/\d+)?\/?$/

/** Flags in `browser-info`, with the method that a page calls for each. All other hits are page views. */
const METHODS: [flag: string, method: string][] = [
  ['dl:1', 'file'],
  ['ln:1', 'extLink'],
  ['nb:1', 'notBounce'],
  ['pa:1', 'params'],
]

const watch: Route = { path: WATCH, read: readHit }

const KEYS: readonly KeyReference[] = [
  {
    url: 'https://yandex.com/support/metrica/en/objects/method-reference',
    meanings: {
      'page-url': ['url', 'Address of the page, or goal:// and the name of the goal'],
      'page-ref': ['url', 'Address of the previous page'],
      'site-info.*': [null, 'Parameter of the visit, set by the site'],
    },
  },
]

export const yandexMetrica: Decoder = {
  vendor: 'Yandex Metrica',
  source: 'https://yandex.com/support/metrica/en/objects/method-reference',
  keys: KEYS,
  hosts: [
    'mc.yandex.ru',
    'mc.yandex.com',
    'mc.yandex.by',
    'mc.yandex.kz',
    'mc.yandex.uz',
    'mc.yandex.com.tr',
    'mc.yango.com',
    'mc.webvisor.com',
    'mc.webvisor.org',
  ],
  routes: [
    watch,
    // Recordings, click maps, identity sync.
    sideChannel(/^\/(?:webvisor|clmap|map|sync_cookie|metrika\/advert|user_storage_set)\b/),
    scriptLoad(/^\/metrika\/[\w-]+\.js$/, 'id'),
    // Requests through the customer's own server.
    {
      ...watch,
      anyHost: true,
      mark: /^(?=.*[?&]browser-info=).*[?&]page-url=/,
      when: ({ search }) => search.includes('browser-info=') && search.includes('page-url='),
    },
  ],
}

/** Reads a hit. `site-info` contains the page's custom parameters, including e-commerce data, as JSON. */
function readHit({ path, fields }: VendorRequest): DecodedEvent[] {
  const account = scalarOrNull(WATCH.exec(path)?.groups?.account)
  return [{ event: hitName(fields), account, params: { ...fields, 'site-info': unfolded(fields['site-info']) } }]
}

/** Returns the name of a hit. A reached goal has a special URL: `goal://shop.example/order`. */
function hitName({ 'page-url': page = '', 'browser-info': info = '' }: Params): string {
  const goal = /^goal:\/\/[^/]*\/(.*)$/s.exec(page)?.[1]
  if (goal !== undefined) return goal
  const flags = new Set(info.split(':', 400).map((flag, index, all) => `${flag}:${all[index + 1]}`))
  return METHODS.find(([flag]) => flags.has(flag))?.[1] ?? 'hit'
}
