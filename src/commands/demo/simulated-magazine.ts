import { GA4, PLAUSIBLE } from './sample-vendors.ts'
import { type Choice, Site, type Visit } from './simulated-site.ts'

const STORIES = ['linen-in-summer', 'a-coat-for-life', 'how-dye-works', 'mending', 'the-tailor'] as const
/** The story whose third-party video player does not report video titles. */
const UNTITLED = 'the-tailor'
/** Share of visitors who read another story, and share of visitors who watch its video. */
const [READS_ON, WATCHES] = [0.45, 0.2]

/** A fashion magazine with stories, some of which have a video. */
export class Magazine extends Site {
  protected override titleOf(path: string): string {
    return path === '/' ? 'The Magazine' : path.slice('/stories/'.length).replaceAll('-', ' ')
  }

  protected override visit(visit: Visit, choice: Choice): void {
    this.page(visit, '/')
    visit.choice = choice
    do {
      const story = STORIES[Math.floor(this.random() * STORIES.length)] ?? UNTITLED
      this.page(visit, `/stories/${story}`)
      if (this.random() >= WATCHES) continue
      const title = story === UNTITLED ? {} : { 'ep.video_title': this.titleOf(visit.path) }
      this.tell(visit, GA4, 'video_start', { 'ep.video_provider': 'player', ...title })
    } while (this.random() < READS_ON)
  }

  protected override page(visit: Visit, path: string): void {
    super.page(visit, path)
    this.tell(visit, GA4, 'page_view')
    this.tell(visit, PLAUSIBLE, 'pageview')
  }
}
