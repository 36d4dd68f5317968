import type { DecodedEvent, Decoder } from './decoder.ts'
import { withEmbedded } from './embedded-params.ts'
import { type Params, scalarOrNull } from './params.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'
import { readSemicolons } from './semicolon-params.ts'

const TOP = /^\/(?:counter|tracker)$/

/** The retargeting pixel of the social network, and the VK Ads pixel, which is the counter of Top.Mail.Ru. */
export const vkPixel: Decoder = {
  vendor: 'VK Pixel',
  source: 'https://ads.vk.com/help/articles/pixel',
  hosts: ['vk.com', 'vk.ru', 'top-fwz1.mail.ru'],
  routes: [
    pixel(/^\/rtrg$/, {
      account: 'p',
      event: ({ event, products_event, goal }) => event || products_event || goal || 'hit',
    }),
    // Performance data of the page.
    { ...sideChannel(TOP), when: ({ path, search }) => path === '/tracker' && !/[?;]e=(?!RT)/.test(search) },
    { path: TOP, read: ({ search }) => readCounter(readSemicolons(search.slice(1))) },
    scriptLoad(/^\/js\/(?:code|dyn-goal-config)\.js$/, 'ids'),
  ],
}

/** Reads a hit. `e=RG:<value>/<goal>` means that a goal was reached. A request without `e` is a page view. */
function readCounter(sent: Params): DecodedEvent[] {
  const { e = '' } = sent
  const [, value, goal] = /^RG:([^/]*)\/(.*)$/s.exec(e) ?? []
  const params = withEmbedded(sent, [
    ['e.value', value],
    ['e.goal', goal],
  ])
  return [{ event: e ? (goal ?? e) : 'pageView', account: scalarOrNull(sent.id), params }]
}
