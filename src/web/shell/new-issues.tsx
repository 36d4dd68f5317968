import { useSyncExternalStore } from 'react'
import { live } from '../api/stream.ts'
import { words } from '../words.ts'

/** Tells who does not see the page how many issues have opened: once for several, and at most once a minute. */
export function NewIssues() {
  const news = useSyncExternalStore(live.subscribe, () => live.read().news)
  return (
    <div aria-live="polite" className="heard">
      {news && (
        // Another one is another element: the same words are said again.
        <span key={news.at}>
          {words.shell.newIssues(news.count, news.worstCount, words.api.severities[news.worst].toLowerCase())}
        </span>
      )}
    </div>
  )
}
