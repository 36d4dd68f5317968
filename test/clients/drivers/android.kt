// What ExampleApplication.kt uses of Android, for a compiler without its SDK.
// https://developer.android.com/reference/android/app/Application

package android.app

import android.os.Bundle
import java.io.File

open class Activity

open class Application {
    val noBackupFilesDir: File get() = File(".")

    open fun onCreate() = Unit

    fun registerActivityLifecycleCallbacks(callback: ActivityLifecycleCallbacks) = callback.hashCode()

    interface ActivityLifecycleCallbacks {
        fun onActivityCreated(activity: Activity, savedInstanceState: Bundle?)
        fun onActivityStarted(activity: Activity)
        fun onActivityResumed(activity: Activity)
        fun onActivityPaused(activity: Activity)
        fun onActivityStopped(activity: Activity)
        fun onActivitySaveInstanceState(activity: Activity, outState: Bundle)
        fun onActivityDestroyed(activity: Activity)
    }
}
