import { testDecoder } from './decoder-cases.ts'
import { teadsPixel } from './teads-pixel.ts'

// https://support.teads.tv/support/solutions/articles/36000209100-teads-universal-pixel
testDecoder(teadsPixel, [
  {
    name: 'a page view',
    url: 'https://t.teads.tv/track?action=pageView&buyer_pixel_id=1234&tag_version=5.1',
    account: '1234',
    events: ['pageView'],
  },
  {
    name: 'a conversion with a type',
    url: 'https://t.teads.tv/track?action=conversion&conversion_type=Lead&buyer_pixel_id=1234&tag_version=5.1',
    account: '1234',
    events: ['Lead'],
  },
  { name: 'the library', url: 'https://p.teads.tv/teads-fellow.js', events: [''], kind: 'library' },
  { name: 'ad delivery', url: 'https://t.teads.tv/track?action=slot-available&pid=1', events: null },
])
