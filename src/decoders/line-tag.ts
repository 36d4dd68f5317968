import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad } from './route-builders.ts'

export const lineTag: Decoder = {
  vendor: 'LINE Tag',
  source: 'https://www.lycbiz.com/jp/manual/line-ads/tracking_003/',
  hosts: ['tr.line.me', 'd.line-scdn.net'],
  routes: [
    // `pv` is a page view. `cv` is a conversion, whose type is in `cv_type`. Other values are custom names.
    pixel(/^\/tag\.gif$/, { account: 't_id', event: ({ e = '', cv_type }) => (e === 'cv' ? cv_type || e : e) }),
    scriptLoad(/^\/n\/line_tag\/.+\.js$/),
  ],
}
