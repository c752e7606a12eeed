import { render } from 'preact'
import './styles/base.css'
import './styles/layout.css'
import './styles/parts.css'
import './styles/period.css'
import './styles/calendar.css'
import './styles/document.css'
import './styles/live.css'
import './styles/chart.css'
import './styles/groups.css'
import './styles/overview.css'
import './styles/terms.css'
import './styles/phone.css'
import './styles/contrast.css'
import './styles/print.css'
import 'uplot/dist/uPlot.min.css'
import { t } from './language.ts'
import { startLanguage } from './languages.ts'
import { applyTheme, readTheme } from './theme.ts'

applyTheme(readTheme())
await startLanguage()
// Only now: its constants hold texts in the language of the reader.
const app = await import('./app.tsx').catch(() => null)
const root = document.querySelector('#app')
if (root !== null) {
  // In it stands what is read as long as no script runs.
  root.replaceChildren()
  render(app === null ? <NotLoaded /> : <app.App />, root)
}

/** Of nothing that the missing part may hold. */
function NotLoaded() {
  return (
    <main class="alone">
      <h1>Shelftrace</h1>
      <div class="notice failure" role="alert">
        <p>{t('A part of the dashboard could not be loaded.')}</p>
        <button type="button" onClick={() => location.reload()}>
          {t('Try again')}
        </button>
      </div>
    </main>
  )
}
