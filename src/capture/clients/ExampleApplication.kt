// The app's Application class, named in the manifest: <application android:name=".ExampleApplication">.
// The manifest also needs <uses-permission android:name="android.permission.INTERNET" />.

package com.example.tagwarden

import android.app.Activity
import android.app.Application
import android.os.Bundle
import java.io.File

class ExampleApplication : Application() {
    lateinit var tagwarden: Tagwarden
        private set

    override fun onCreate() {
        super.onCreate()
        // The folder is not backed up, because a restored device counts as a new device.
        tagwarden = Tagwarden(File(noBackupFilesDir, "tagwarden"), env = "prod", version = 20412)
        registerActivityLifecycleCallbacks(object : ActivityLifecycleCallbacks {
            private var started = 0

            override fun onActivityStarted(activity: Activity) {
                started++
                tagwarden.screen("app://shop.example/" + activity.javaClass.simpleName)
            }

            override fun onActivityStopped(activity: Activity) {
                started--
                if (started == 0) tagwarden.flush()
            }

            override fun onActivityCreated(activity: Activity, savedInstanceState: Bundle?) = Unit
            override fun onActivityResumed(activity: Activity) = Unit
            override fun onActivityPaused(activity: Activity) = Unit
            override fun onActivitySaveInstanceState(activity: Activity, outState: Bundle) = Unit
            override fun onActivityDestroyed(activity: Activity) = Unit
        })
    }

    /** Call it where the app sends the same event to a vendor's SDK. */
    fun purchased(orderId: String, value: Double) {
        val params = mapOf("transaction_id" to orderId, "value" to value, "currency" to "EUR")
        tagwarden.track("Adjust", "purchase", params, mapOf("status" to "ok"))
    }
}
